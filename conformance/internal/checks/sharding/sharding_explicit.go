package sharding

var shardingExplicitCheck = onDevices("sharding-explicit", "sharding",
	"what sharding says also holds with explicit axes", checkSharding(true))

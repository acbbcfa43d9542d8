// Package sharding has the checks of arrays that are divided over several devices, which are simulated on the host.
package sharding

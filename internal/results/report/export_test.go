package report

// ReadLimited is Read with a limit on the size.
var ReadLimited = read

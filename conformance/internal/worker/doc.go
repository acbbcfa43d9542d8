// Package worker starts and asks the Python processes in which frameworks call ops.
//
// The Python files that all workers share are in this folder, too; what belongs to one framework is in its folder below
// adaptors/. Go and Python speak by frames of JSON and raw bytes (package rpc).
package worker

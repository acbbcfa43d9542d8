// Package definitions has the checks that run once per op, through no caller: they judge the definition itself.
package definitions

// Package endurance has the checks of what surrounds a call: threads, child processes, memory that is never freed.
package endurance

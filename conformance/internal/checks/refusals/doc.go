// Package refusals has the checks of calls that must be refused, by the right class and in the right words.
package refusals

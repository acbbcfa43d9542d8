// Package gradients has the checks of derivatives: their values come from the gradient op of the definition.
package gradients

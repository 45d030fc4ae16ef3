// Package docs gives the program the pages of this folder that it shows itself.
package docs

import _ "embed" // Errors

// Errors is docs/errors.md: all failure codes, each with its status and text.
//
//go:embed errors.*
var Errors string

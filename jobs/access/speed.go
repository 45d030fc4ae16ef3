package accessjobs

import (
	"strconv"
	"strings"
)

// bitsPerUnit are the suffixes with which routers shorten a speed.
var bitsPerUnit = map[string]int64{"k": 1_000, "M": 1_000_000, "G": 1_000_000_000}

// sameSpeed reports whether a router's text in bit/s is a speed in kbit/s; a text that cannot be read is believed.
func sameSpeed(text string, kbits int64) bool {
	unit := int64(1)
	for suffix, bits := range bitsPerUnit {
		if rest, has := strings.CutSuffix(text, suffix); has {
			text, unit = rest, bits
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return err != nil || n*unit == kbits*1_000
}

package sheet

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// Encoding is the encoding of a text that is no Unicode, by the name that the web gives it.
type Encoding string

// Encodings are those that can be chosen. Which of them a text has cannot be seen from its bytes: each is a valid text
// in several.
var Encodings = []string{"windows-1252", "windows-1250", "windows-1251", "windows-1256", "gbk"}

// Known reports whether the encoding can be chosen.
func (e Encoding) Known() bool { return slices.Contains(Encodings, string(e)) }

// foreignEncodings have the characters of the encodings beside Windows-1252.
var foreignEncodings = map[Encoding]encoding.Encoding{
	"windows-1250": charmap.Windows1250, "windows-1251": charmap.Windows1251, "windows-1256": charmap.Windows1256,
	"gbk": simplifiedchinese.GBK,
}

// Decode gives a text of an encoding in UTF-8. One that is UTF-8 already stays as it is; without a known encoding the
// text is taken as Windows-1252.
func Decode(text string, from Encoding) string {
	if utf8.ValidString(text) {
		return text
	}
	out, err := fromEncoding([]byte(text), from)
	if err != nil {
		return text
	}
	return string(out)
}

// fromEncoding is a text in UTF-8. A byte that stands for no character becomes the sign of an unknown one.
func fromEncoding(body []byte, from Encoding) ([]byte, error) {
	if of, known := foreignEncodings[from]; known {
		return of.NewDecoder().Bytes(body)
	}
	return fromWindows1252(body), nil
}

// utf16Of is the order of bytes of a text in UTF-16; nil for another encoding. A text without a mark is one when every
// second byte of its beginning is zero, as the letters of a header are.
func utf16Of(body []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(body, []byte{0xFF, 0xFE}):
		return binary.LittleEndian
	case bytes.HasPrefix(body, []byte{0xFE, 0xFF}):
		return binary.BigEndian
	}
	start := body[:min(len(body), 64)&^1]
	if len(start) < 8 {
		return nil
	}
	var zeros [2]int
	for i, b := range start {
		if b == 0 {
			zeros[i%2]++
		}
	}
	switch {
	case zeros[1] > len(start)/3 && zeros[0] < zeros[1]/4:
		return binary.LittleEndian
	case zeros[0] > len(start)/3 && zeros[1] < zeros[0]/4:
		return binary.BigEndian
	}
	return nil
}

// fromUTF16 is the text in UTF-8, without the mark. Fails: ErrUnreadable for half a character.
func fromUTF16(body []byte, order binary.ByteOrder) ([]byte, error) {
	if len(body)%2 != 0 {
		return nil, ErrUnreadable
	}
	out := make([]byte, 0, len(body)/2*3) // at most 3 bytes for 2: it never grows
	for i := 0; i < len(body); i += 2 {
		r := rune(order.Uint16(body[i:]))
		if utf16.IsSurrogate(r) {
			if i += 2; i >= len(body) {
				return nil, ErrUnreadable
			}
			if r = utf16.DecodeRune(r, rune(order.Uint16(body[i:]))); r == utf8.RuneError {
				return nil, ErrUnreadable
			}
		}
		if r != 0xFEFF || i > 0 {
			out = utf8.AppendRune(out, r)
		}
	}
	return out, nil
}

// windows1252 has the characters of the bytes 0x80 to 0x9F; the others are those of Latin-1. Zero = no character.
var windows1252 = [32]rune{
	0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
	0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
	0x0178,
}

// fromWindows1252 is the text in UTF-8. A byte that stands for no character becomes the sign of an unknown one.
func fromWindows1252(body []byte) []byte {
	size := 0
	for _, b := range body {
		size += utf8.RuneLen(ofWindows1252(b))
	}
	out := make([]byte, 0, size)
	for _, b := range body {
		out = utf8.AppendRune(out, ofWindows1252(b))
	}
	return out
}

// ofWindows1252 is the character of a byte.
func ofWindows1252(b byte) rune {
	if b < 0x80 || b > 0x9F {
		return rune(b)
	}
	if r := windows1252[b-0x80]; r != 0 {
		return r
	}
	return utf8.RuneError
}

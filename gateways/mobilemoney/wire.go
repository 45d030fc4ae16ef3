package mobilemoney

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/internal/money"
)

// text is a JSON string or number: the provider writes the same field in either form. A number is kept in plain digits,
// exactly, in whatever notation it came. null is "". A text is trimmed, at most maxText long, and has no control
// characters.
type text string

// maxText bounds a text, in characters: real ones are far shorter, and indexes and screens cannot take every length.
const maxText = 500

// harmless makes a text fit for databases, logs and screens: the provider passes on unchanged what customers type.
func harmless(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, strings.TrimSpace(s))
	if runes := []rune(s); len(runes) > maxText {
		return string(runes[:maxText])
	}
	return s
}

// UnmarshalJSON accepts a string, a number or null; a list or an object is an error.
func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) == 0 {
		return errors.New("no value")
	}
	switch c := b[0]; {
	case string(b) == "null":
		*t = ""
	case c == '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*t = text(harmless(s))
	case c == '-' || c >= '0' && c <= '9':
		n, err := plainNumber(string(b))
		if err != nil {
			return err
		}
		*t = text(n)
	default:
		return fmt.Errorf("neither text nor number")
	}
	return nil
}

// maxNumber bounds the length and the exponent of a number.
const maxNumber = money.MaxDigits

// plainNumber gives a JSON number without exponent and redundant zeros: 1.50E2 is 150, 1.00 is 1. Some senders
// write large whole numbers, such as dates and phones, in exponent form.
func plainNumber(s string) (string, error) {
	if len(s) > maxNumber {
		return "", fmt.Errorf("number is too long")
	}
	digits, negative := strings.CutPrefix(s, "-")
	exponent := 0
	if mantissa, power, found := strings.Cut(strings.ToLower(digits), "e"); found {
		n, err := strconv.Atoi(power)
		if err != nil || n > maxNumber || n < -maxNumber {
			return "", fmt.Errorf("number has exponent %q", power)
		}
		digits, exponent = mantissa, n
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "", fmt.Errorf("%q is not a number", s)
	}
	point := len(whole) + exponent
	if point < 0 {
		digits, point = strings.Repeat("0", -point)+digits, 0
	}
	if point > len(digits) {
		digits += strings.Repeat("0", point-len(digits))
	}
	whole, fraction = strings.TrimLeft(digits[:point], "0"), strings.TrimRight(digits[point:], "0")
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if negative && whole != "0" {
		whole = "-" + whole
	}
	return whole, nil
}

// shillings reads an amount exactly: 1, 1.00 and "1.0" are the same. An amount that is not positive, or has more than
// two decimals that are not zero, is an error.
func shillings(t text) (money.Amount, error) {
	plain, err := plainNumber(string(t))
	if err != nil {
		return money.Amount{}, fmt.Errorf("amount: %w", err)
	}
	amount, err := money.Parse(plain, money.KES)
	if err == nil && !amount.Positive() {
		err = fmt.Errorf("amount %s is not positive", plain)
	}
	return amount, err
}

// The years in which a payment date is credible.
const (
	firstYear = 2000
	lastYear  = 2999
)

// instant reads YYYYMMDDHHmmss in East Africa Time and gives UTC; the zero time when it is not credible. That is no
// error, because no decision about money depends on it alone.
func instant(t text) time.Time {
	at, err := time.ParseInLocation(stampLayout, string(t), eastAfrica)
	// Package time takes a fraction of a second that the layout does not have.
	if err != nil || len(t) != len(stampLayout) || at.Year() < firstYear || at.Year() > lastYear {
		return time.Time{}
	}
	return at.UTC()
}

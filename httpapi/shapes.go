package httpapi

import "encoding/json"

// jsonNumber is an amount in major units, exact.
type jsonNumber = json.Number

// emptyAsNull is nil for an empty text.
func emptyAsNull(text *string) *string {
	if text == nil || *text == "" {
		return nil
	}
	return text
}

// orNotFound is the error of a read, or else the absence of the row.
func orNotFound(err, absent error) error {
	if err != nil {
		return err
	}
	return absent
}

// afterOf is the key to go on from, zero at the start of a list.
func afterOf[K any](p Page[K]) K {
	if p.After == nil {
		var zero K
		return zero
	}
	return *p.After
}

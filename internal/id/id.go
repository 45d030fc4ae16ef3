// Package id has a type for each kind of identifier, so that an invoice's id cannot be given where a receipt's is
// wanted. New ids are UUIDv7 (they sort by time of making); derived ids are UUIDv5, so that the same facts give the
// same id.
package id

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// Of is an identifier of kind K. The zero value means "none": it is empty as text and null in JSON and SQL.
type Of[K any] [16]byte

// The kinds.
type (
	organization struct{}
	user         struct{}
	session      struct{}
	subscriber   struct{}
	plan         struct{}
	subscription struct{}
	invoice      struct{}
	payment      struct{}
	receipt      struct{}
	series       struct{}
	shortcode    struct{}
	secret       struct{}
	device       struct{}
	service      struct{}
	run          struct{}
	command      struct{}
	event        struct{}
	request      struct{}
)

// The identifiers.
type (
	Organization = Of[organization]
	User         = Of[user]
	Session      = Of[session]
	Subscriber   = Of[subscriber] // also the id of the subscriber's account stream
	Plan         = Of[plan]
	Subscription = Of[subscription]
	Invoice      = Of[invoice]
	Payment      = Of[payment] // one prompt attempt
	Receipt      = Of[receipt] // derived from provider and receipt number: docs/rules/money.md#receipts-once
	Series       = Of[series]  // derived from organization and document type
	Shortcode    = Of[shortcode]
	Secret       = Of[secret]  // a row of the vault
	Device       = Of[device]  // a router (NAS)
	Service      = Of[service] // one customer-facing service on a router; made by Random: its first digits are a name
	Run          = Of[run]     // one run of writes to a router, or one reboot
	Command      = Of[command]
	Event        = Of[event]
	Request      = Of[request]
	Any          = Of[any] // an aggregate of a kind that the code at hand need not know
)

// space is the namespace of all derived ids of the product.
var space = uuid.MustParse("6f1d3c52-0f0b-5c59-9d38-7a2f3ed1c3a4")

// New makes a UUIDv7.
func New[I ~[16]byte]() I { return I(uuid.Must(uuid.NewV7())) }

// Random makes a UUIDv4, for ids whose first digits must differ: those of New are the same for a minute.
func Random[I ~[16]byte]() I { return I(uuid.New()) }

// Derive makes the UUIDv5 of a kind word and the parts that identify; the parts may hold any text.
func Derive[I ~[16]byte](kind string, parts ...string) I {
	var b strings.Builder
	b.WriteString(kind)
	for _, p := range parts {
		fmt.Fprintf(&b, "\x00%d:%s", len(p), p)
	}
	return I(uuid.NewSHA1(space, []byte(b.String())))
}

// errNotID is shown to clients with the field's name.
var errNotID = errors.New("not a UUID of 36 characters")

// Parse reads the 36-character form.
func Parse[I ~[16]byte](text string) (I, error) {
	var none I
	if len(text) != 36 {
		return none, errNotID
	}
	u, err := uuid.Parse(text)
	if err != nil {
		return none, errNotID
	}
	return I(u), nil
}

// Must is Parse for constants and tests.
func Must[I ~[16]byte](text string) I {
	v, err := Parse[I](text)
	if err != nil {
		panic(err)
	}
	return v
}

// As turns an identifier into one of another kind, where two kinds share their value by design.
func As[To, From ~[16]byte](from From) To { return To(from) }

// IsZero tells whether there is no id.
func (i Of[K]) IsZero() bool { return i == Of[K]{} }

// UUID is the plain value.
func (i Of[K]) UUID() uuid.UUID { return uuid.UUID(i) }

// String is the 36-character form, "" for none.
func (i Of[K]) String() string {
	if i.IsZero() {
		return ""
	}
	return uuid.UUID(i).String()
}

// MarshalText is String; it serves JSON map keys and log attributes.
func (i Of[K]) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// MarshalJSON is the quoted form, null for none.
func (i Of[K]) MarshalJSON() ([]byte, error) {
	if i.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + i.String() + `"`), nil
}

// UnmarshalText reads the 36-character form or "".
func (i *Of[K]) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*i = Of[K]{}
		return nil
	}
	v, err := Parse[Of[K]](string(text))
	if err != nil {
		return err
	}
	*i = v
	return nil
}

// UnmarshalJSON reads the quoted form or null.
func (i *Of[K]) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*i = Of[K]{}
		return nil
	}
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return errNotID
	}
	return i.UnmarshalText(b[1 : len(b)-1])
}

// Value serves database drivers.
func (i Of[K]) Value() (driver.Value, error) {
	if i.IsZero() {
		return nil, nil
	}
	return i.String(), nil
}

// Scan serves database drivers.
func (i *Of[K]) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*i = Of[K]{}
		return nil
	case string:
		return i.UnmarshalText([]byte(v))
	case []byte:
		return i.UnmarshalText(v)
	case [16]byte:
		*i = Of[K](v)
		return nil
	}
	return fmt.Errorf("scan id from %T", src)
}

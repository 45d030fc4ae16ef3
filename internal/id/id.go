// Package id has a type for each kind of identifier, so that the compiler refuses an invoice's id in the place of a
// receipt's. New ids are UUIDv7, which sort by the time of their making. Derived ids are UUIDv5, so that the same facts
// give the same id.
package id

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"
)

// Of is an identifier of kind K. The zero value means no id: it is empty as text and null in JSON and SQL.
type Of[K any] [16]byte

// The kinds have no values; they only make the types of identifiers different.
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
	allocation   struct{}
	withdrawal   struct{}
	refund       struct{}
	billingRun   struct{}
	planMove     struct{}
	extra        struct{}
	series       struct{}
	shortcode    struct{}
	secret       struct{}
	device       struct{}
	service      struct{}
	run          struct{}
	topUp        struct{}
	online       struct{}
	command      struct{}
	event        struct{}
	voucher      struct{}
	voucherBatch struct{}
	request      struct{}
	lookup       struct{}
	difference   struct{}
	place        struct{}
	message      struct{}
	importing    struct{}
	export       struct{}
	proposal     struct{}
	file         struct{}
	outage       struct{}
	compensation struct{}
	batch        struct{}
	fuse         struct{}
	signature    struct{}
	webhook      struct{}
	delivery     struct{}
	supportAsked struct{}
	allowance    struct{}
	approval     struct{}
	cpe          struct{}
	cpeOperation struct{}
	cpeFault     struct{}
	cpeFirmware  struct{}
	cpeCampaign  struct{}
	cpeProvision struct{}
	cpeOnu       struct{}
)

// The identifiers. Each is a type of its own for the compiler.
type (
	Organization = Of[organization]
	User         = Of[user]
	Session      = Of[session]
	Subscriber   = Of[subscriber] // also the id of the subscriber's account stream
	Plan         = Of[plan]
	Subscription = Of[subscription]
	Invoice      = Of[invoice]
	Payment      = Of[payment]    // one prompt attempt
	Receipt      = Of[receipt]    // derived from provider and receipt number: docs/rules/money.md#receipts-once
	Allocation   = Of[allocation] // derived from a receipt and what its money is for
	Withdrawal   = Of[withdrawal] // one taking back of a part of a receipt
	Refund       = Of[refund]
	BillingRun   = Of[billingRun] // derived from organization and date
	PlanMove     = Of[planMove]   // of the customers of a plan to one of its versions
	Extra        = Of[extra]      // beside the price of a plan
	Series       = Of[series]     // derived from organization and document type
	Shortcode    = Of[shortcode]
	Secret       = Of[secret]  // a row of the vault
	Device       = Of[device]  // a router (NAS)
	Service      = Of[service] // a service on a router; never made by New, because names use its first digits
	Run          = Of[run]     // one run of writes to a router, or one reboot
	Voucher      = Of[voucher] // derived from organization and code under a key, so it tells nothing about the code
	VoucherBatch = Of[voucherBatch]
	Outage       = Of[outage]       // derived from its cause when it began by itself
	Compensation = Of[compensation] // also the correlation of all that it gives
	Fuse         = Of[fuse]         // derived from organization and kind
	Signature    = Of[signature]    // of an invoice or a credit note by the tax authority; its document's id
	Batch        = Of[batch]        // that of the run, the import or the compensation which it is
	TopUp        = Of[topUp]        // of a subscription's included traffic
	Online       = Of[online]       // one session of a customer on the network
	Difference   = Of[difference]   // between entitled and observed; of organization, router, kind, subject
	Place        = Of[place]        // of a customer's device at a router; derived from these and what it is entitled to
	Command      = Of[command]
	Event        = Of[event]
	Request      = Of[request]
	Lookup       = Of[lookup]       // one question who had an address
	Message      = Of[message]      // to a customer; derived from its cause and its day
	Import       = Of[importing]    // of customers; derived from organization and file under a key
	Export       = Of[export]       // of all that an organization has
	Proposal     = Of[proposal]     // of customers that a router knows; also the file with their passwords
	File         = Of[file]         // sealed parts in the vault
	Webhook      = Of[webhook]      // an endpoint of an organization's own system
	Delivery     = Of[delivery]     // of one message to one webhook endpoint; derived from both
	Support      = Of[supportAsked] // one support request of a customer
	Allowance    = Of[allowance]    // derived from organization, person and local date
	Approval     = Of[approval]     // of an act that waits for a second person
	CPE          = Of[cpe]          // a device at a customer's; derived from its OUI, product class and serial number
	CPEFault     = Of[cpeFault]     // an error of such a device that the CPE server has noted
	CPEOperation = Of[cpeOperation] // one write to such a device; of a campaign derived from it, device and try
	CPEFirmware  = Of[cpeFirmware]  // a file of firmware; derived from organization and filename
	CPECampaign  = Of[cpeCampaign]  // a deployment of such a file to devices of a model
	CPEProvision = Of[cpeProvision] // a script of an organization; derived from it and the script's name
	CPEOnu       = Of[cpeOnu]       // the optical end of such a device; derived from organization and serial number
	Any          = Of[any]          // an aggregate of any kind
)

// space is the namespace of all derived ids of the product. It must never change.
var space = uuid.MustParse("6f1d3c52-0f0b-5c59-9d38-7a2f3ed1c3a4")

// New makes a UUIDv7: later ids sort after earlier ones. It panics when the machine has no random numbers.
func New[I ~[16]byte]() I { return I(uuid.Must(uuid.NewV7())) }

// Derive makes a UUIDv5 of the kind and the parts. The parts may hold any text; lists that differ give different ids.
func Derive[I ~[16]byte](kind string, parts ...string) I {
	text := append(make([]byte, 0, 256), kind...)
	for _, p := range parts {
		text = strconv.AppendInt(append(text, 0), int64(len(p)), 10)
		text = append(append(text, ':'), p...)
	}
	return I(uuid.NewSHA1(space, text))
}

// errNotID has no capital, because clients see it after the name of the field.
var errNotID = errors.New("not a UUID of 36 characters")

// textLength is the number of characters of the only form that is read.
const textLength = 36

// Parse reads the 36-character form and refuses every other form, also "".
func Parse[I ~[16]byte](text string) (I, error) {
	var none I
	if len(text) != textLength {
		return none, errNotID
	}
	u, err := uuid.Parse(text)
	if err != nil {
		return none, errNotID
	}
	return I(u), nil
}

// Must is Parse for constants and tests; it panics.
func Must[I ~[16]byte](text string) I {
	v, err := Parse[I](text)
	if err != nil {
		panic(err)
	}
	return v
}

// As converts an identifier to another kind, for two kinds that share their values by design.
func As[To, From ~[16]byte](from From) To { return To(from) }

// IsZero reports whether the value means no id.
func (i Of[K]) IsZero() bool { return i == Of[K]{} }

// UUID converts to the library's type; no id becomes uuid.Nil.
func (i Of[K]) UUID() uuid.UUID { return uuid.UUID(i) }

// String is the 36-character form, or "" for no id.
func (i Of[K]) String() string {
	if i.IsZero() {
		return ""
	}
	return uuid.UUID(i).String()
}

// Texts gives the forms that PostgreSQL casts to uuid[], never nil. The zero value names nothing and is left out: of a
// list of actors, those that are no user have it, and an empty text is no uuid.
func Texts[K any](ids []Of[K]) []string {
	out := make([]string, 0, len(ids))
	for _, i := range ids {
		if !i.IsZero() {
			out = append(out, i.String())
		}
	}
	return out
}

// MarshalText writes the 36-character form, or "" for no id. JSON map keys and log attributes use it.
func (i Of[K]) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// MarshalJSON writes the quoted form, or null for no id.
func (i Of[K]) MarshalJSON() ([]byte, error) {
	if i.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + i.String() + `"`), nil
}

// UnmarshalText reads the 36-character form, or "" for no id.
func (i *Of[K]) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*i = Of[K]{}
		return nil
	}
	u, err := uuid.ParseBytes(text) // not as a string, which would be an object for every id
	if err != nil || len(text) != textLength {
		return errNotID
	}
	*i = Of[K](u)
	return nil
}

// UnmarshalJSON reads the quoted form, or null for no id.
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

// Value gives database drivers the 36-character form, or null for no id.
func (i Of[K]) Value() (driver.Value, error) {
	if i.IsZero() {
		return nil, nil
	}
	return i.String(), nil
}

// Scan reads text, 16 bytes as an array, or null from a database driver.
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

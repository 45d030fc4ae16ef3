package commands

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// SubscriberCategory begins the names of the streams of subscribers.
const SubscriberCategory = "subscriber"

// SubscriberCommand is a command to "subscriber-<id>".
//
//sumtype:decl
type SubscriberCommand interface {
	Command
	subscriberCommand()
}

// RegisterSubscriber creates a customer. Fails: account_number_taken (choose another), account_alias_taken,
// subscriber_exists.
type RegisterSubscriber struct {
	SubscriberID  id.Subscriber
	OrgID         id.Organization
	AccountNumber string
	Currency      money.Currency
	Details       events.SubscriberDetails
	ImportRow     personal.Text // as in events.SubscriberRegistered
}

// CorrectSubscriberDetails replaces all details. Fails: subscriber_not_found, account_alias_taken.
type CorrectSubscriberDetails struct {
	SubscriberID id.Subscriber
	Details      events.SubscriberDetails
}

// BlockSubscriber stops a customer's access by hand, also when it is paid. Fails: subscriber_not_found.
type BlockSubscriber struct {
	SubscriberID id.Subscriber
	Reason       string
}

// UnblockSubscriber ends a block. Fails: subscriber_not_found.
type UnblockSubscriber struct {
	SubscriberID id.Subscriber
	Reason       string
}

// RemoveSubscriber removes a customer whose import is undone: the personal fields are cleared, and the account number
// is never given again. The caller has looked that nothing happened to the customer. Fails: subscriber_not_found, also
// for one that is removed already.
type RemoveSubscriber struct {
	SubscriberID id.Subscriber
	Reason       string // it must not name a person
}

// ForgetSubscriber erases a customer whose account is closed for it (CloseAccount.Forget): the personal fields are
// cleared, and the key of the person is destroyed afterwards. A repeat changes nothing. Fails: subscriber_not_found.
type ForgetSubscriber struct {
	SubscriberID id.Subscriber
	Reason       string // it must not name a person
}

func (ForgetSubscriber) CommandName() string { return "subscribers.ForgetSubscriber" }
func (ForgetSubscriber) subscriberCommand()  {}
func (c ForgetSubscriber) Target() Target    { return At(SubscriberCategory, c.SubscriberID) }

// Validate checks form.
func (c ForgetSubscriber) Validate() error { return requireReason(c.Reason) }

func (RemoveSubscriber) CommandName() string { return "subscribers.RemoveSubscriber" }
func (RemoveSubscriber) subscriberCommand()  {}
func (c RemoveSubscriber) Target() Target    { return At(SubscriberCategory, c.SubscriberID) }

// Validate checks form.
func (c RemoveSubscriber) Validate() error { return requireReason(c.Reason) }

func (RegisterSubscriber) CommandName() string       { return "subscribers.RegisterSubscriber" }
func (CorrectSubscriberDetails) CommandName() string { return "subscribers.CorrectSubscriberDetails" }
func (BlockSubscriber) CommandName() string          { return "subscribers.BlockSubscriber" }
func (UnblockSubscriber) CommandName() string        { return "subscribers.UnblockSubscriber" }

func (RegisterSubscriber) subscriberCommand()       {}
func (CorrectSubscriberDetails) subscriberCommand() {}
func (BlockSubscriber) subscriberCommand()          {}
func (UnblockSubscriber) subscriberCommand()        {}

func (c RegisterSubscriber) Target() Target       { return At(SubscriberCategory, c.SubscriberID) }
func (c CorrectSubscriberDetails) Target() Target { return At(SubscriberCategory, c.SubscriberID) }
func (c BlockSubscriber) Target() Target          { return At(SubscriberCategory, c.SubscriberID) }
func (c UnblockSubscriber) Target() Target        { return At(SubscriberCategory, c.SubscriberID) }

// Validate checks the form of account number and details.
func (c RegisterSubscriber) Validate() error {
	var f failure.Faults
	f.Check(ValidAccountNumber(c.AccountNumber), "accountNumber", "must be 8 digits, the last a Luhn check digit")
	checkDetails(&f, c.Details)
	return f.Err()
}

// Validate checks the form of the details.
func (c CorrectSubscriberDetails) Validate() error {
	var f failure.Faults
	checkDetails(&f, c.Details)
	return f.Err()
}

func (c BlockSubscriber) Validate() error   { return requireReason(c.Reason) }
func (c UnblockSubscriber) Validate() error { return requireReason(c.Reason) }

// tagForm is a tag of 1 to 50 letters and digits of any script, spaces and a few signs.
var tagForm = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N} ._:/-]{0,49}$`)

// Bounds of the lists of one customer.
const (
	MaxAliases = 10 // old account numbers
	MaxTags    = 50
)

// aliasForm is an old account number as NormalAlias writes it.
var aliasForm = regexp.MustCompile(`^[A-Z0-9]{2,40}$`)

// NormalAlias is an old account number in the form in which payments are compared with it: capitals and digits alone,
// because people leave out, or put in, everything else.
func NormalAlias(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToUpper(inputtext.Code(text)))
}

// NormalTaxPIN is the number of a taxpayer as tax authorities write it: in capitals, without spaces.
func NormalTaxPIN(text string) string {
	return strings.ToUpper(strings.Join(strings.Fields(inputtext.Code(text)), ""))
}

// taxPINForm is such a number; each country has a form of its own.
var taxPINForm = regexp.MustCompile(`^[A-Z0-9][A-Z0-9/-]{2,29}$`)

// checkTaxPIN checks the number of a taxpayer; it may be left out.
func checkTaxPIN(f *failure.Faults, pin string) {
	f.Check(pin == "" || taxPINForm.MatchString(pin), "taxPin", "must have 3 to 30 letters, digits, - or /")
}

// checkDetails checks a subscriber's details field by field; an empty e-mail address is allowed.
func checkDetails(f *failure.Faults, d events.SubscriberDetails) {
	checkPersonName(f, "firstName", d.FirstName.Reveal(), true)
	checkPersonName(f, "lastName", d.LastName.Reveal(), false)
	checkPhone(f, "phone", d.Phone.Reveal())
	second := d.SecondPhone.Reveal()
	if second != "" {
		checkPhone(f, "secondPhone", second)
	}
	f.Check(second == "" || second != d.Phone.Reveal(), "secondPhone", "must be another one than phone")
	f.Check(second != "" || !d.MessageSecond, "messageSecond", "must be false without a second phone")
	if !d.Email.IsZero() {
		checkEmail(f, "email", d.Email.Reveal())
	}
	f.Check(len(d.Address.Reveal()) <= 500, "address", "must have at most 500 bytes")
	f.Check(len(d.Notes.Reveal()) <= 5000, "notes", "must have at most 5000 bytes")
	f.Check(len(d.ExternalRef.Reveal()) <= 100, "externalRef", "must have at most 100 bytes")
	checkLines(f, "address", d.Address.Reveal())
	checkLines(f, "notes", d.Notes.Reveal())
	checkLine(f, "externalRef", d.ExternalRef.Reveal())
	checkTaxPIN(f, d.TaxPIN.Reveal())
	f.Check(d.Language == "" || d.Language.Known(), "language", "must be one of %s", listed(events.Languages()))
	f.Check(len(d.AccountAliases) <= MaxAliases, "accountAliases", "must be at most %d", MaxAliases)
	f.Check(eachMatches(d.AccountAliases, aliasForm), "accountAliases", "must each have 2 to 40 letters or digits")
	f.Check(len(d.Tags) <= MaxTags, "tags", "must be at most %d", MaxTags)
	f.Check(eachMatches(d.Tags, tagForm), "tags", "must each have 1 to 50 letters, digits, spaces or . _ : / -")
	if l := d.Place(); l != nil {
		f.Check(l.Latitude >= -90 && l.Latitude <= 90, "location", "latitude must be from -90 to 90")
		f.Check(l.Longitude >= -180 && l.Longitude <= 180, "location", "longitude must be from -180 to 180")
	}
}

// eachMatches is one answer about all texts, however many of them are wrong.
func eachMatches(texts []personal.Text, form *regexp.Regexp) bool {
	return !slices.ContainsFunc(texts, func(t personal.Text) bool { return !form.MatchString(t.Reveal()) })
}

// NormalizeContactPhone returns the E.164 form of a number as people type it. A number without a country is taken as
// Kenyan. A text that it cannot read is refused by Validate.
func NormalizeContactPhone(text string) string { return inputtext.Phone(text) }

// AccountNumber is the account number for seven digits: the eighth is their Luhn check digit (ISO/IEC 7812-1). seven is
// from 0 to 9,999,999.
func AccountNumber(seven int) string {
	n, sum := seven, 0
	for i := 0; i < 7; i++ {
		d := n % 10
		n /= 10
		if i%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	digits := []byte("00000000")
	for i, n := 6, seven; i >= 0; i, n = i-1, n/10 {
		digits[i] = byte('0' + n%10)
	}
	digits[7] = byte('0' + (10-sum%10)%10)
	return string(digits)
}

// ValidAccountNumber reports whether a text is eight digits with the right check digit.
func ValidAccountNumber(text string) bool {
	if len(text) != 8 {
		return false
	}
	seven := 0
	for _, r := range text[:7] {
		if r < '0' || r > '9' {
			return false
		}
		seven = seven*10 + int(r-'0')
	}
	return AccountNumber(seven) == text
}

// ErrNoSubscriber is the failure for a subscriber that does not exist or belongs to another organization.
func ErrNoSubscriber() error {
	return failure.NewNotFound("subscriber_not_found", "There is no such subscriber.")
}

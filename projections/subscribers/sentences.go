package subscribersviews

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// Sentence tells the staff something about a customer, without personal data. Its code says what, and the facts how
// much and when, so that every language can say it (docs/rules/subscribers.md#sentences).
type Sentence struct {
	Code string // one of SentenceCodes
	Facts
}

// Facts make a sentence exact: how much, which, when. A zero field is not in the sentence.
type Facts struct {
	Amount     json.Number    `json:"amount,omitempty"` // major units
	Percent    json.Number    `json:"percent,omitempty"`
	Due        json.Number    `json:"due,omitempty"` // what is left to pay afterwards, major units
	Currency   money.Currency `json:"currency,omitempty"`
	Invoice    string         `json:"invoice,omitempty"`  // number of the invoice that it is about
	Invoices   int            `json:"invoices,omitempty"` // how many are owed; Invoice is the first of them
	Number     string         `json:"number,omitempty"`   // of another document than an invoice
	Channel    string         `json:"channel,omitempty"`  // of a payment: "stk", "c2b", "cash" or "bill_manager"
	Plan       string         `json:"plan,omitempty"`
	Period     string         `json:"period,omitempty"` // of a cap: "day" or "month"
	Used       int64          `json:"used,omitempty"`   // bytes
	Allowed    int64          `json:"allowed,omitempty"`
	Bytes      int64          `json:"bytes,omitempty"`
	Days       int            `json:"days,omitempty"` // that were given
	From       time.Time      `json:"from,omitzero"`
	Until      time.Time      `json:"until,omitzero"`
	Cause      string         `json:"cause,omitempty"` // why the clock of dunning stands still
	Difference Difference     `json:"difference,omitempty"`
	Reason     Reason         `json:"reason,omitempty"`
	Message    Message        `json:"message,omitempty"`
	Act        Act            `json:"act,omitempty"`   // that needs a second person
	Fault      string         `json:"fault,omitempty"` // why a message was not sent
}

// sum has an amount as the fact of a sentence.
func sum(a money.Amount) Facts { return Facts{Amount: a.Number(), Currency: a.Currency} }

// leaving adds what is left to pay.
func (f Facts) leaving(due money.Amount) Facts {
	f.Due, f.Currency = due.Number(), due.Currency
	return f
}

// ofInvoice adds the number of an invoice.
func (f Facts) ofInvoice(number string) Facts {
	f.Invoice = number
	return f
}

// numbered adds the number of another document; "" for a draft.
func (f Facts) numbered(number string) Facts {
	f.Number = number
	return f
}

// by adds the channel of a payment.
func (f Facts) by(channel string) Facts {
	f.Channel = channel
	return f
}

// says makes a sentence of a row. The code is a constant text here, which a test looks up among the sentences.
func says(code string, f Facts) Sentence { return Sentence{Code: code, Facts: f} }

// Codes of sentences that explain a day of a customer; the reason is one of AccessReasons.
const (
	AccessCut       = "access_cut"
	AccessBlocked   = "access_blocked"
	AccessRestored  = "access_restored"
	AccessPaused    = "access_paused"
	AccessWalledIn  = "access_walled_in" // only the payment page is left
	RouterRebooted  = "router_rebooted"
	ServiceRepaired = "service_repaired" // on the router
)

// SentenceCodes lists all codes, sorted. They are part of the API and never change their meaning.
func SentenceCodes() []string { return slices.Sorted(maps.Keys(sentences)) }

// Reason tells why access or a session changed: of an entitlement, or one of events.EnforcedReasons.
type Reason string

// Texts implements httpapi.Enumerated.
func (Reason) Texts() []string {
	return slices.Sorted(slices.Values(append(entitlement.Code("").Texts(), events.EnforcedReasons()...)))
}

// Words gives the reason behind a colon.
func (r Reason) Words() string {
	return cmp.Or(events.EnforcedWords(string(r)), entitlement.Code(r).Words(), spoken(string(r)))
}

// Difference is an events.AccessDifferenceKind.
type Difference events.AccessDifferenceKind

// Texts implements httpapi.Enumerated.
func (Difference) Texts() []string { return sortedTexts(seenAs) }

// Message is an events.MessageTemplate.
type Message events.MessageTemplate

// Texts implements httpapi.Enumerated.
func (Message) Texts() []string { return sortedTexts(saying) }

// Act is one of events.ActKinds.
type Act string

// Texts implements httpapi.Enumerated.
func (Act) Texts() []string { return events.ActKinds() }

// sortedTexts are the keys of a map as texts.
func sortedTexts[K ~string](m map[K]string) []string {
	var texts []string
	for k := range m {
		texts = append(texts, string(k))
	}
	slices.Sort(texts)
	return texts
}

// In is the sentence in English, its instants in a zone and in the form that messages have: "26 Dec 2026 22:53".
func (s Sentence) In(zone *time.Location) string {
	at := func(t time.Time) string { return t.In(zone).Format("2 Jan 2006 15:04") }
	amount := func(n json.Number) string { return string(s.Currency) + " " + n.String() }
	invoice, note := named("invoice", s.Invoice), "A credit note"
	if s.Number != "" {
		note = "Credit note " + s.Number
	}
	return strings.NewReplacer(
		"{amount}", amount(s.Amount), "{off}", s.off(amount), "{due}", amount(s.Due), "{invoice}", invoice,
		"{Invoice}", strings.ToUpper(invoice[:1])+invoice[1:], "{owed}", s.owed(amount), "{note}", note,
		"{by}", channels[s.Channel], "{plan}", s.Plan, "{period}", s.Period, "{used}", events.Volume(s.Used),
		"{allowed}", events.Volume(s.Allowed), "{bytes}", events.Volume(s.Bytes), "{from}", at(s.From),
		"{until}", at(s.Until), "{cause}", spoken(s.Cause), "{days}", counted(s.Days, "day"),
		"{difference}", cmp.Or(seenAs[events.AccessDifferenceKind(s.Difference)], spoken(string(s.Difference))),
		"{act}", cmp.Or(acts[s.Act], spoken(string(s.Act))), "{reason}", s.Reason.Words(), "{fault}", spoken(s.Fault),
		"{message}", cmp.Or(saying[events.MessageTemplate(s.Message)], spoken(string(s.Message))),
	).Replace(sentences[s.Code])
}

// off tells how much a discount takes off: a share or an amount.
func (s Sentence) off(amount func(json.Number) string) string {
	if s.Percent != "" {
		return s.Percent.String() + " %"
	}
	return amount(s.Amount)
}

// owed words the debt at a step of dunning: "KES 1500.00 of invoice ACME-0001 and 1 other".
func (s Sentence) owed(amount func(json.Number) string) string {
	what := "the next period"
	switch {
	case s.Invoices > 0:
		what = named("invoice", s.Invoice)
	case s.Amount != "":
		return amount(s.Amount)
	}
	switch others := s.Invoices - 1; {
	case others == 1:
		what += " and 1 other"
	case others > 1:
		what += " and " + strconv.Itoa(others) + " others"
	}
	if s.Invoices > 0 && s.Amount != "" {
		what = amount(s.Amount) + " of " + what
	}
	return what
}

// counted is a number of things: "1 day", "3 days".
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}

// named is a document with its number, or any of its kind when it has none.
func named(document, number string) string {
	if number == "" {
		return "an " + document
	}
	return document + " " + number
}

// channels are the ways of a payment, with a space before them; none for a channel without a name.
var channels = map[string]string{
	"stk": " by phone prompt", "c2b": " by paybill", "cash": " in cash", "bill_manager": " by bill manager",
}

// spoken makes a code readable that has no words of its own.
func spoken(code string) string { return strings.ReplaceAll(code, "_", " ") }

// seenAs says what the auditor saw at a customer's router, without personal data.
var seenAs = map[events.AccessDifferenceKind]string{
	events.PaidButOffline:  "the customer has paid, and a sign-in was refused or came to nothing",
	events.PaidButWalledIn: "the customer has paid, and is in the walled garden",
	events.UnpaidButOnline: "the customer is online with more than is paid",
	events.WrongRate:       "the session has another speed than it should",
	events.UnknownSession:  "the router has a session of this customer that was not reported",
	events.StaleSession:    "a session that was reported is not on the router",
	events.LocalBypass:     "the customer is online by a login of the router itself",
	events.PortBelowPlan:   "the port is slower than the plan",
}

// acts name what gives money away.
var acts = map[Act]string{
	events.ActCompensation: "a compensation", events.ActCreditNote: "a credit note",
	events.ActImport:        "an import with credit",
	events.ActReattribution: "the move of a payment", events.ActRefund: "a refund",
	events.ActReissue:  "a corrected invoice, with a reduction",
	events.ActReversal: "the reversal of a payment", events.ActVoid: "the void of an invoice",
	events.ActWriteOff: "a write-off",
}

// saying gives the meaning of a message.
var saying = map[events.MessageTemplate]string{
	events.ReminderBefore:     "payment is due soon",
	events.ReminderDue:        "payment is due today",
	events.ReminderOverdue:    "payment is overdue",
	events.NoticeGarden:       "only the payment page can be reached",
	events.NoticeSuspended:    "there is no access any more",
	events.NoticeRestored:     "access is whole again",
	events.NoticeCapWarned:    "four fifths of the traffic are used",
	events.NoticeCapThrottled: "the traffic is used up, access is slow",
	events.NoticeCapStopped:   "the traffic is used up, there is no access",
	events.NoticeOutage:       "there is an outage where the customer is",
	events.NoticeOutageOver:   "the outage is over",
	events.NoticeInvoice:      "the tax authority has signed an invoice",
	events.NoticeIssued:       "an invoice was issued",
	events.NoticeReceipt:      "money has come",
	events.NoticeSupport:      "a support request was answered",
	events.CodeToSignIn:       "a code to sign in",
	events.CodeOfAddress:      "a code for another address of the sign-in",
	events.AddressChanged:     "the address of the sign-in was changed",
}

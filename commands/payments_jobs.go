package commands

import (
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// SubmitPrompt sends the prompt of an attempt to the provider, once.
type SubmitPrompt struct {
	PaymentID id.Payment `json:"paymentId"`
	Position  uint64     `json:"position"` // of the attempt's first event; read models must have reached it
}

// QueryPrompt asks the provider for the outcome of a prompt.
type QueryPrompt struct {
	PaymentID id.Payment `json:"paymentId"`
	Position  uint64     `json:"position"` // of the latest event about the prompt; 0 = do not wait
}

// FindPayer looks for the subscriber whose money a receipt is.
type FindPayer struct {
	ReceiptID id.Receipt `json:"receiptId"`
	Position  uint64     `json:"position"` // of the sighting; read models must have reached it
}

// RegisterShortcode gets a token and registers the C2B addresses of an organization's own shortcode at the provider.
type RegisterShortcode struct {
	OrgID          id.Organization `json:"orgId"`
	CredentialsRef id.Secret       `json:"credentialsRef"`
	Position       uint64          `json:"position"`      // of the settings; read models must have reached it
	Try            int             `json:"try,omitempty"` // how many have failed before
}

// RegisterPlatform registers the C2B addresses of the platform's shared shortcode. Periodic; the first run is at the
// start of the program.
type RegisterPlatform struct{}

// RefreshAddresses registers the C2B addresses of active direct shortcodes of which the provider does not have the
// present addresses. Periodic; the first run is at the start of the program.
type RefreshAddresses struct{}

// SweepMoney looks for receipts whose money has no place and for prompts without a verdict, and sets the work about
// them going again. Periodic.
type SweepMoney struct{}

// PullPayments asks the provider for the payments of every shortcode. Periodic.
type PullPayments struct{}

// PullTill asks the provider for the payments of one shortcode since the last time, and records what is missing.
type PullTill struct {
	OrgID       id.Organization `json:"orgId"` // null: the platform's shortcode
	Environment string          `json:"environment"`
	Shortcode   string          `json:"shortcode"`
}

// AskToPay prompts the first of some subscribers of an organization who owes something: somebody asked for it on the
// payment page. Without subscribers it does nothing.
type AskToPay struct {
	Subscribers []id.Subscriber `json:"subscribers"`
	At          time.Time       `json:"at"` // when it was asked for: soon afterwards nobody expects it any more
}

func (AskToPay) Kind() string          { return "payments_ask_to_pay" }
func (SubmitPrompt) Kind() string      { return "payments_submit_prompt" }
func (QueryPrompt) Kind() string       { return "payments_query_prompt" }
func (FindPayer) Kind() string         { return "payments_find_payer" }
func (RegisterShortcode) Kind() string { return "payments_register_shortcode" }
func (RegisterPlatform) Kind() string  { return "payments_register_platform" }
func (RefreshAddresses) Kind() string  { return "payments_refresh_addresses" }
func (SweepMoney) Kind() string        { return "payments_sweep_money" }
func (PullPayments) Kind() string      { return "payments_pull" }
func (PullTill) Kind() string          { return "payments_pull_till" }

// Request is the question about one shortcode.
func (j PullTill) Request() string { return j.Environment + " " + j.Shortcode + " " + j.OrgID.String() }

// Request is the question about one prompt. Where the position matters, it is a question of its own.
func (j QueryPrompt) Request() string { return fmt.Sprintf("%s %d", j.PaymentID, j.Position) }

// Request is the search for one receipt's payer. Where the position matters, it is a search of its own.
func (j FindPayer) Request() string { return fmt.Sprintf("%s %d", j.ReceiptID, j.Position) }

// Request is one try with the same credentials. Where the position matters, it is one of its own.
func (j RegisterShortcode) Request() string {
	return fmt.Sprintf("%s %s %d %d", j.OrgID, j.CredentialsRef, j.Position, j.Try)
}

// TendBills does everything that is due at the bill manager, for all organizations.
type TendBills struct{}

// ReportBill finds the bill of a payment that the bill manager reported, once the payment is booked.
type ReportBill struct {
	ReceiptID id.Receipt `json:"receiptId"`
	At        time.Time  `json:"at"` // of the report
}

func (TendBills) Kind() string  { return "bills_tend" }
func (ReportBill) Kind() string { return "bill_report" }

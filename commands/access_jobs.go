package commands

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// FollowDunningRules asks for a review of the subscriptions of an organization that owe something, because rules have
// changed. One job takes a part of them, after the given id, and the next job the rest.
type FollowDunningRules struct {
	OrgID    id.Organization `json:"orgId"`
	Position uint64          `json:"position"` // of the event that changed the rules; read models must have reached it
	After    id.Subscription `json:"after"`    // zero = from the first one on
	// Unchanged are names of policies whose subscriptions need no review; "" is the default one.
	Unchanged []string `json:"unchanged,omitempty"`
}

func (FollowDunningRules) Kind() string { return "access_follow_dunning_rules" }

// ForgetTelemetry deletes what routers have reported about a person. A repeat deletes what has come since.
type ForgetTelemetry struct {
	OrgID        id.Organization `json:"orgId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	Position     uint64          `json:"position,omitempty"` // of the event, which the directory must know; 0 = none
}

func (ForgetTelemetry) Kind() string { return "access_forget_telemetry" }

// AddPaidTopUp adds the bytes of a top-up whose invoice is paid. The use of the period is read when the job runs.
type AddPaidTopUp struct {
	Subject   events.UsageSubject `json:"subject"`
	TopUpID   id.TopUp            `json:"topUpId"`
	Bytes     int64               `json:"bytes"`
	Price     money.Amount        `json:"price"`
	InvoiceID id.Invoice          `json:"invoiceId"`
}

func (AddPaidTopUp) Kind() string { return "access_add_paid_top_up" }

// LongestFault bounds a fault: a router that is not reached for longer is no fault any more.
const LongestFault = 30 * 24 * time.Hour

// FollowFault stops the clocks of the customers whom a fault keeps from paying or from their line, and starts them when
// it has ended. One job takes a part of the subscriptions, after the given id, and the next job the rest.
type FollowFault struct {
	OrgID    id.Organization `json:"orgId"`
	Cause    string          `json:"cause"`    // of the stopped clocks
	DeviceID id.Device       `json:"deviceId"` // zero = the fault concerns all customers of the organization
	From     time.Time       `json:"from"`
	Until    time.Time       `json:"until,omitzero"` // zero = the fault lasts
	Round    int             `json:"round,omitempty"`
	Position uint64          `json:"position"` // read models must have reached it
	After    id.Subscription `json:"after"`    // zero = from the first one on
	// Heard is the newest sign in the fault that the router had a line; zero = none. An earlier part may have known one
	// that is not known any more: of sign-ins only the first and the latest of a day are kept.
	Heard time.Time `json:"heard,omitzero"`
}

// WatchPayments looks for organizations whose customers cannot pay. Periodic.
type WatchPayments struct{}

func (FollowFault) Kind() string   { return "access_follow_fault" }
func (WatchPayments) Kind() string { return "access_watch_payments" }

package commands

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TellCredit makes the account tell its credit, when it has any: a process that waits for credit asks whether there is
// enough now. It never fails.
type TellCredit struct {
	SubscriberID id.Subscriber
	// Tax is the organization's present rule, by which a next period is charged. Processes leave it empty:
	// billingcases.PeriodInvoices adds it.
	Tax *events.TaxRule
}

// Validate checks form only.
func (c TellCredit) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	return f.Err()
}

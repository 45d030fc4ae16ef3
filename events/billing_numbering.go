package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// NumberingEvent is an event of "numbering-<series id>". Each organization has one series for each type of document and
// prefix.
//
//sumtype:decl
type NumberingEvent interface {
	Event
	numberingEvent()
}

// NumberGranted records that a number belongs to a document for ever. The document is issued because of this event,
// also after a crash. The numbers of a block are granted in one append.
type NumberGranted struct {
	SeriesID     id.Series       `json:"seriesId"`
	OrgID        id.Organization `json:"orgId"`
	Document     string          `json:"document"` // "invoice" or "credit_note"
	DocumentID   id.Any          `json:"documentId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	Seq          int64           `json:"seq"`    // 1, 2, 3 …
	Number       string          `json:"number"` // "ACME-0001"
	// RunID is the billing run that issues the document at once.
	RunID id.BillingRun `json:"runId,omitzero"`
	At    time.Time     `json:"at"`
}

// NumberingPeriodClosed passes the state to the stream's next period (docs/rules/engine.md#closing-a-period).
type NumberingPeriodClosed struct {
	SeriesID id.Series `json:"seriesId"`
	Opening  []byte    `json:"opening"` // JSON of the aggregate's state
}

func (NumberGranted) EventType() string         { return "billing.NumberGranted.v1" }
func (NumberingPeriodClosed) EventType() string { return "billing.NumberingPeriodClosed.v1" }
func (NumberGranted) numberingEvent()           {}
func (NumberingPeriodClosed) numberingEvent()   {}

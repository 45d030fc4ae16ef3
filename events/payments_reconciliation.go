package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// ReconciliationEvent is an event of "reconciliation-<id>": a statement of the provider that is compared with the
// receipts (docs/rules/money.md#reconciliation). The statement itself is in the vault, because it names payers.
//
//sumtype:decl
type ReconciliationEvent interface {
	Event
	reconciliationEvent()
}

// ReconciliationFigures count what a comparison has found, in receipts.
type ReconciliationFigures struct {
	Matched      int `json:"matched"`
	MissingHere  int `json:"missingHere"`
	MissingThere int `json:"missingThere"`
	Different    int `json:"different"`
	// Movements of the statement that are no money of customers.
	Withdrawals int `json:"withdrawals"`
	Charges     int `json:"charges"`
	Reversals   int `json:"reversals"`
	Failed      int `json:"failed"`
	// MissingHereAmount is the sum of the payments that are missing here: what an adoption takes in.
	MissingHereAmount money.Amount `json:"missingHereAmount"`
	// Attention counts the movements that a person has to look at before anybody takes them for money of a customer.
	Attention int `json:"attention"`
	// Kinds has all movements by their kind. Comparisons that were recorded before it existed have none.
	Kinds []StatementSum `json:"kinds"`
}

// StatementSum says how many movements of one kind a statement has, and how much they move.
type StatementSum struct {
	Kind string       `json:"kind"`
	Rows int          `json:"rows"`
	In   money.Amount `json:"in"`
	Out  money.Amount `json:"out"`
}

// ReconciliationStarted records that somebody uploaded a statement.
type ReconciliationStarted struct {
	ReconciliationID id.Reconciliation `json:"reconciliationId"`
	OrgID            id.Organization   `json:"orgId"` // null: of the platform's shortcode
	Environment      string            `json:"environment"`
	Shortcode        string            `json:"shortcode"`
	Lines            int               `json:"lines"`
	DateOrder        string            `json:"dateOrder"` // "dmy" or "mdy" as the sender chose; "" = the rows decide
	From             time.Time         `json:"from"`      // the earliest time of the statement
	To               time.Time         `json:"to"`        // the latest
	At               time.Time         `json:"at"`
}

// ReconciliationCompared records the outcome. It can come again, after an adoption.
type ReconciliationCompared struct {
	ReconciliationID id.Reconciliation     `json:"reconciliationId"`
	Figures          ReconciliationFigures `json:"figures"`
	At               time.Time             `json:"at"`
}

// ReconciliationFailed records that the comparison, or the adoption, did not come to its end.
type ReconciliationFailed struct {
	ReconciliationID id.Reconciliation `json:"reconciliationId"`
	Code             string            `json:"code"`
	At               time.Time         `json:"at"`
}

// ReconciliationAdoptionStarted records that somebody takes in what is missing here.
type ReconciliationAdoptionStarted struct {
	ReconciliationID id.Reconciliation `json:"reconciliationId"`
	OrgID            id.Organization   `json:"orgId"`
	At               time.Time         `json:"at"`
}

// ReconciliationAdopted records that all of it was taken in.
type ReconciliationAdopted struct {
	ReconciliationID id.Reconciliation     `json:"reconciliationId"`
	Adopted          int                   `json:"adopted"` // receipts
	Figures          ReconciliationFigures `json:"figures"` // after it
	At               time.Time             `json:"at"`
}

func (ReconciliationStarted) EventType() string  { return "payments.ReconciliationStarted.v1" }
func (ReconciliationCompared) EventType() string { return "payments.ReconciliationCompared.v1" }
func (ReconciliationFailed) EventType() string   { return "payments.ReconciliationFailed.v1" }
func (ReconciliationAdoptionStarted) EventType() string {
	return "payments.ReconciliationAdoptionStarted.v1"
}
func (ReconciliationAdopted) EventType() string { return "payments.ReconciliationAdopted.v1" }

func (ReconciliationStarted) reconciliationEvent()         {}
func (ReconciliationCompared) reconciliationEvent()        {}
func (ReconciliationFailed) reconciliationEvent()          {}
func (ReconciliationAdoptionStarted) reconciliationEvent() {}
func (ReconciliationAdopted) reconciliationEvent()         {}

package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// AllowanceEvent is an event of "allowance-<id>": what one person gives away in an organization on one local day
// without a second person. Source: docs/rules/approvals.md#the-limit.
//
//sumtype:decl
type AllowanceEvent interface {
	Event
	allowanceEvent()
}

// The kinds of acts that give money away. They are part of the API.
const (
	ActRefund        = "refund"
	ActWriteOff      = "write_off"
	ActReversal      = "reversal"
	ActReattribution = "reattribution"
	ActCreditNote    = "credit_note"
	ActVoid          = "void"
	ActReissue       = "reissue"
	ActCompensation  = "compensation"
	ActImport        = "import" // of customers who had paid ahead elsewhere
)

// ActLimit is the kind of an approval that gives nothing away by itself: another limit.
const ActLimit = "limit"

// ActKinds lists the kinds of acts that give money away, sorted.
func ActKinds() []string {
	return []string{
		ActCompensation, ActCreditNote, ActImport, ActReattribution, ActRefund, ActReissue, ActReversal, ActVoid,
		ActWriteOff,
	}
}

// AllowanceUsed records that an act may be done by this person alone. It comes before the act.
type AllowanceUsed struct {
	AllowanceID id.Allowance    `json:"allowanceId"`
	OrgID       id.Organization `json:"orgId"`
	PersonID    id.User         `json:"personId"` // the person's record at the organization
	Date        calendar.Date   `json:"date"`     // in the organization's zone
	ActID       id.Command      `json:"actId"`    // the command that does it
	Kind        string          `json:"kind"`
	Amount      money.Amount    `json:"amount"`
	At          time.Time       `json:"at"`
}

// AllowanceReturned records that an act was refused after all, so that it gave nothing away.
type AllowanceReturned struct {
	AllowanceID id.Allowance    `json:"allowanceId"`
	OrgID       id.Organization `json:"orgId"`
	ActID       id.Command      `json:"actId"`
	Amount      money.Amount    `json:"amount"`
	At          time.Time       `json:"at"`
}

func (AllowanceUsed) EventType() string     { return "billing.AllowanceUsed.v1" }
func (AllowanceReturned) EventType() string { return "billing.AllowanceReturned.v1" }
func (AllowanceUsed) allowanceEvent()       {}
func (AllowanceReturned) allowanceEvent()   {}

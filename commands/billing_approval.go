package commands

import (
	"strconv"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ApprovalCategory begins the names of the streams of approvals.
const ApprovalCategory = "approval"

// ApprovalKept is how long an approval waits for a second person.
const ApprovalKept = 7 * 24 * time.Hour

// SecondPersonAfter is how long somebody must have been able to enter without the help of others before they count as a
// second person. Within this time it is seen who made a second seat, or gave a colleague another password, to agree
// with themselves.
const SecondPersonAfter = 3 * 24 * time.Hour

// ApprovalCommand is a command to "approval-<id>".
//
//sumtype:decl
type ApprovalCommand interface {
	Command
	approvalCommand()
}

// ApprovalOfRefund derives the id of the approval that a refund waits for; round counts those that ended without it.
func ApprovalOfRefund(refund id.Refund, round int) id.Approval {
	return id.Derive[id.Approval]("refund", refund.String(), strconv.Itoa(round))
}

// ApprovalOfImport derives the id of the approval that an import waits for; round is as with refunds.
func ApprovalOfImport(of id.Import, round int) id.Approval {
	return id.Derive[id.Approval]("import", of.String(), strconv.Itoa(round))
}

// RequestApproval has an act wait for a second person. A known id changes nothing.
type RequestApproval struct {
	Subject events.ApprovalSubject
	Act     events.ApprovalAct
	By      id.User // of an API key its maker
	Person  id.User // the record that stands for all records of By
	Role    events.Role
	Reason  string
}

// GrantApproval is the word of a second person, after which the act is done. Fails: approval_not_found,
// approval_own, approver_too_new, approval_decided, approval_expired.
type GrantApproval struct {
	ApprovalID id.Approval
	By         id.User
	Person     id.User
	Role       events.Role
	Opened     time.Time // when somebody else last gave By a seat, a password or the like
}

// RefuseApproval ends an approval by the word of another person than who asked. Fails as GrantApproval does.
type RefuseApproval struct {
	ApprovalID id.Approval
	By         id.User
	Person     id.User
	Reason     string
}

// WithdrawApproval ends an approval by the word of who asked. Fails: approval_not_found, approval_of_another,
// approval_decided, approval_expired.
type WithdrawApproval struct {
	ApprovalID id.Approval
	By         id.User
	Person     id.User
}

// ExpireApproval ends an approval about which nobody decided in time; another one changes nothing. Fails:
// approval_not_found.
type ExpireApproval struct {
	ApprovalID id.Approval
}

// FinishApproval records how the approved act ended, once. Fails: approval_not_found.
type FinishApproval struct {
	ApprovalID id.Approval
	Code       string // of the failure; "" = it is done
}

// CarryOutApproval does an approved act.
type CarryOutApproval struct {
	OrgID      id.Organization `json:"orgId"`
	ApprovalID id.Approval     `json:"approvalId"`
}

// Kind is the durable name of the job.
func (CarryOutApproval) Kind() string { return "billing_carry_out_approval" }

func (RequestApproval) CommandName() string  { return "billing.RequestApproval" }
func (GrantApproval) CommandName() string    { return "billing.GrantApproval" }
func (RefuseApproval) CommandName() string   { return "billing.RefuseApproval" }
func (WithdrawApproval) CommandName() string { return "billing.WithdrawApproval" }
func (ExpireApproval) CommandName() string   { return "billing.ExpireApproval" }
func (FinishApproval) CommandName() string   { return "billing.FinishApproval" }

func (RequestApproval) approvalCommand()  {}
func (GrantApproval) approvalCommand()    {}
func (RefuseApproval) approvalCommand()   {}
func (WithdrawApproval) approvalCommand() {}
func (ExpireApproval) approvalCommand()   {}
func (FinishApproval) approvalCommand()   {}

func (c RequestApproval) Target() Target  { return At(ApprovalCategory, c.Subject.ApprovalID) }
func (c GrantApproval) Target() Target    { return At(ApprovalCategory, c.ApprovalID) }
func (c RefuseApproval) Target() Target   { return At(ApprovalCategory, c.ApprovalID) }
func (c WithdrawApproval) Target() Target { return At(ApprovalCategory, c.ApprovalID) }
func (c ExpireApproval) Target() Target   { return At(ApprovalCategory, c.ApprovalID) }
func (c FinishApproval) Target() Target   { return At(ApprovalCategory, c.ApprovalID) }

// Validate checks the form.
func (c RequestApproval) Validate() error {
	var f failure.Faults
	f.Check(!c.Subject.OrgID.IsZero(), "orgId", "is required")
	f.Check(c.Subject.Kind != "", "kind", "is required")
	f.Check(!c.By.IsZero() && !c.Person.IsZero(), "by", "is required")
	f.Check(len(c.Reason) <= 500, "reason", "must have at most 500 bytes")
	checkLines(&f, "reason", c.Reason)
	return f.Err()
}

// Validate requires the person.
func (c GrantApproval) Validate() error { return requireApprover(c.By, c.Person) }

// Validate requires the person and a reason.
func (c RefuseApproval) Validate() error {
	var f failure.Faults
	f.Check(strings.TrimSpace(c.Reason) != "", "reason", "must say why")
	f.Check(len(c.Reason) <= 500, "reason", "must have at most 500 bytes")
	checkLines(&f, "reason", c.Reason)
	return failure.JoinFaults(f.Err(), requireApprover(c.By, c.Person))
}

// Validate requires the person.
func (c WithdrawApproval) Validate() error { return requireApprover(c.By, c.Person) }

func (ExpireApproval) Validate() error { return nil }
func (FinishApproval) Validate() error { return nil }

// requireApprover is for what a person says about an approval.
func requireApprover(by, person id.User) error {
	var f failure.Faults
	f.Check(!by.IsZero() && !person.IsZero(), "by", "is required")
	return f.Err()
}

// ErrNoApproval is the failure for an approval that does not exist or belongs to another organization.
func ErrNoApproval() error {
	return failure.NewNotFound("approval_not_found", "There is no such approval.")
}

// MayBeSecond refuses whom somebody else has let in a moment ago, as a second person. Fails: approver_too_new.
func MayBeSecond(opened, now time.Time) error {
	if now.Before(opened.Add(SecondPersonAfter)) {
		return failure.NewDenied("approver_too_new",
			"You can refuse this, but not approve it yet: your seat, role, password or phone, or your sign-in without "+
				"a second factor, was given to you less than three days ago. Ask another administrator.")
	}
	return nil
}

// ErrApprovalOutdated refuses an approved act that is not what was approved any more.
func ErrApprovalOutdated() error {
	return failure.NewConflict("approval_outdated",
		"What was approved is not so any more. Look at it again, and ask for another approval if it is still right.")
}

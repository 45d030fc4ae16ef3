// Package commands has the commands of all aggregates, one file for each aggregate, and the arguments of the jobs.
package commands

import (
	"math"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Command asks one aggregate for a change. The caller chooses the ids of new things.
type Command interface {
	// CommandName is the stable name, such as "billing.IssueInvoice". The audit log shows it as the action, and stored
	// commands of processes are found by it.
	CommandName() string
	// Target is the aggregate that decides.
	Target() Target
	// Validate checks form only: empty, range, syntax. Its failures are Malformed or Invalid.
	Validate() error
}

// Target names an aggregate; its stream begins with the first period.
type Target struct {
	Category string
	ID       id.Any
}

// Stream is "<category>-<uuid>", the stream of the first period.
func (t Target) Stream() string { return t.Category + "-" + t.ID.String() }

// At makes a target from an id of any type.
func At[I ~[16]byte](category string, i I) Target { return Target{category, id.Any(i)} }

// Meta has the circumstances of a command. The bus records them with every event.
type Meta struct {
	CommandID     id.Command      // required; the same id never acts twice
	OrgID         id.Organization // the organization that the command acts for; zero for the platform itself
	Actor         events.Actor
	IP            string // address of the caller, "" without one; personal
	RequestID     string
	CorrelationID string // "" = the command id
	CausationID   string // id of the event that led to the command; "" when a person did
	Reason        string
	// ExpectedRevision is the caller's If-Match; nil = none, NoRevision = nothing was recorded yet. Another revision
	// gives failure.Stale with code stale_revision.
	ExpectedRevision *uint64
}

// NoRevision is the revision of what has no event yet, such as settings that nobody ever made.
const NoRevision uint64 = math.MaxUint64

// Claim is a value that only one aggregate on the platform may have. The bus stores an HMAC of the value, so that
// personal values are safe.
type Claim struct {
	Kind  string // such as "login_email"
	Value string // normalized by the aggregate
	// Code is the failure code when another aggregate has the value, such as "email_taken". Message is its text.
	Code    string
	Message string
}

// ErrNotFound is the failure for an aggregate that does not exist or belongs to another organization, when its kind has
// no code of its own.
func ErrNotFound() error {
	return failure.NewNotFound("not_found", "There is nothing at this address.")
}

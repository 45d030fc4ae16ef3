// Package commands has everything that can be asked of the system, flat, one file per aggregate, and the arguments of
// the jobs.
package commands

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Command asks one aggregate for something. Ids of what it makes are chosen by the caller.
type Command interface {
	// CommandName is the stable name, "billing.IssueInvoice": the audit log's action, and the key under which a process
	// manager's command is stored.
	CommandName() string
	// Target is the aggregate that decides.
	Target() Target
	// Validate checks form only: empty, range, syntax. Errors are failure.Malformed or failure.Invalid.
	Validate() error
}

// Target names a stream.
type Target struct {
	Category string
	ID       id.Any
}

// Stream is "<category>-<uuid>".
func (t Target) Stream() string { return t.Category + "-" + t.ID.String() }

// At makes a target from an id of any kind.
func At[I ~[16]byte](category string, i I) Target { return Target{category, id.Any(i)} }

// Meta is what the caller knows about a command.
type Meta struct {
	CommandID     id.Command      // required; the same id never acts twice
	OrgID         id.Organization // on whose behalf; zero for the platform itself
	Actor         events.Actor
	IP            string // of the caller, "" when there is none
	RequestID     string
	CorrelationID string // "" = the command id
	CausationID   string // event id that caused it, "" when a person did
	Reason        string
	// ExpectedRevision is the caller's If-Match; nil = none. A mismatch is failure.Stale "stale_revision".
	ExpectedRevision *uint64
}

// Claim is a value that may have one owner on the platform. The bus keys it by an HMAC, so personal values do no harm.
type Claim struct {
	Kind  string // e.g. "login_email"
	Value string // normalised by the aggregate
	// Code is the failure code when somebody else holds it: "email_taken". Message is shown with it.
	Code    string
	Message string
}

// ErrNotFound is the answer for what does not exist and has no word of its own, and for another organization's.
func ErrNotFound() error { return failure.NewNotFound("not_found", "There is no such thing here.") }

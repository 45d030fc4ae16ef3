package billing

import (
	"cmp"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Approvals defines the acts that wait for a second person: one short stream for each.
func Approvals() aggregates.Definition[Approval, commands.ApprovalCommand, events.ApprovalEvent] {
	return aggregates.Definition[Approval, commands.ApprovalCommand, events.ApprovalEvent]{
		Category: commands.ApprovalCategory, Missing: commands.ErrNoApproval, Evolve: evolveApproval,
		Decide: decideApproval, Owner: func(s Approval) id.Organization { return s.Subject.OrgID },
		Commands: []commands.ApprovalCommand{
			commands.RequestApproval{}, commands.GrantApproval{}, commands.RefuseApproval{},
			commands.WithdrawApproval{}, commands.ExpireApproval{}, commands.FinishApproval{},
		},
	}
}

// The states of an approval. They are part of the API.
const (
	ApprovalWaiting    = "waiting"
	ApprovalApproved   = "approved" // it is carried out in a moment
	ApprovalCarriedOut = "carried_out"
	ApprovalFailed     = "failed"
	ApprovalRefused    = "refused"
	ApprovalWithdrawn  = "withdrawn"
	ApprovalExpired    = "expired"
)

// Approval is an act that waits for a second person, or waited. The zero value does not exist.
type Approval struct {
	Subject   events.ApprovalSubject
	Act       events.ApprovalAct
	By        id.User // who asked
	Person    id.User
	Role      events.Role
	Reason    personal.Text
	ExpiresAt time.Time
	State     string
	GrantedBy id.User
	GrantRole events.Role
}

// evolveApproval applies one recorded event.
func evolveApproval(s Approval, e events.ApprovalEvent) Approval {
	switch e := e.(type) { // complete: gochecksumtype, no default
	case events.ApprovalRequested:
		return Approval{
			Subject: e.ApprovalSubject, Act: e.Act, By: e.By, Person: e.PersonID, Role: e.Role, Reason: e.Reason,
			ExpiresAt: e.ExpiresAt, State: ApprovalWaiting,
		}
	case events.ApprovalGranted:
		s.State, s.GrantedBy, s.GrantRole = ApprovalApproved, e.By, e.Role
	case events.ApprovalRefused:
		s.State = ApprovalRefused
	case events.ApprovalWithdrawn:
		s.State = ApprovalWithdrawn
	case events.ApprovalExpired:
		s.State = ApprovalExpired
	case events.ApprovalCarriedOut:
		s.State = ApprovalCarriedOut
	case events.ApprovalFailed:
		s.State = ApprovalFailed
	}
	return s
}

// decideApproval dispatches; every command but the request needs an approval that exists.
func decideApproval(s Approval, c commands.ApprovalCommand, now time.Time) ([]events.ApprovalEvent, error) {
	if request, ok := c.(commands.RequestApproval); ok {
		if s.State != "" {
			return nil, nil
		}
		return []events.ApprovalEvent{events.ApprovalRequested{
			ApprovalSubject: request.Subject, Act: request.Act, By: request.By, PersonID: request.Person,
			Role: request.Role, Reason: personal.Of(request.Reason), ExpiresAt: now.Add(commands.ApprovalKept), At: now,
		}}, nil
	}
	if s.State == "" {
		return nil, commands.ErrNoApproval()
	}
	switch c := c.(type) {
	case commands.RequestApproval: // above
	case commands.GrantApproval:
		if err := cmp.Or(s.mayDecide(c.By, c.Person, now), commands.MayBeSecond(c.Opened, now)); err != nil {
			return nil, err
		}
		return []events.ApprovalEvent{events.ApprovalGranted{
			ApprovalSubject: s.Subject, By: c.By, Role: c.Role, At: now,
		}}, nil
	case commands.RefuseApproval:
		if err := s.mayDecide(c.By, c.Person, now); err != nil {
			return nil, err
		}
		return []events.ApprovalEvent{events.ApprovalRefused{
			ApprovalSubject: s.Subject, By: c.By, Reason: personal.Of(c.Reason), At: now,
		}}, nil
	case commands.WithdrawApproval:
		if !s.asked(c.By, c.Person) {
			return nil, failure.NewDenied("approval_of_another", "Only who asked can withdraw this. Refuse it instead.")
		}
		if err := s.waits(now); err != nil {
			return nil, err
		}
		return []events.ApprovalEvent{events.ApprovalWithdrawn{ApprovalSubject: s.Subject, By: c.By, At: now}}, nil
	case commands.ExpireApproval:
		if s.State != ApprovalWaiting || now.Before(s.ExpiresAt) {
			return nil, nil
		}
		return []events.ApprovalEvent{events.ApprovalExpired{ApprovalSubject: s.Subject, At: now}}, nil
	case commands.FinishApproval:
		return decideFinishApproval(s, c, now), nil
	}
	return nil, nil
}

// decideFinishApproval records the end of the act once.
func decideFinishApproval(s Approval, c commands.FinishApproval, now time.Time) []events.ApprovalEvent {
	switch {
	case s.State != ApprovalApproved:
		return nil
	case c.Code != "":
		return []events.ApprovalEvent{events.ApprovalFailed{ApprovalSubject: s.Subject, Code: c.Code, At: now}}
	}
	return []events.ApprovalEvent{events.ApprovalCarriedOut{ApprovalSubject: s.Subject, At: now}}
}

// asked reports whether somebody is who asked, by this record or another one.
func (s Approval) asked(by, person id.User) bool {
	return by == s.By || person == s.Person || by == s.Person || person == s.By
}

// mayDecide refuses who asked, and anybody once it is decided.
func (s Approval) mayDecide(by, person id.User, now time.Time) error {
	if s.asked(by, person) {
		return failure.NewDenied("approval_own", "Who asked cannot decide about it, too. This needs another person.")
	}
	return s.waits(now)
}

// waits refuses what is decided, and what nobody decided in time.
func (s Approval) waits(now time.Time) error {
	switch {
	case s.State != ApprovalWaiting:
		return failure.NewConflict("approval_decided", "This is decided already. Read it again to see how.")
	case !now.Before(s.ExpiresAt):
		return failure.NewConflict("approval_expired", "This has waited for too long. Ask for another approval.")
	}
	return nil
}

package accessjobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// RepairOutcome says what came of a repair.
type RepairOutcome string

// The outcomes.
const (
	RepairDone    RepairOutcome = "done"    // the router did it
	RepairGone    RepairOutcome = "gone"    // the router does not show the difference any more
	RepairWaiting RepairOutcome = "waiting" // nothing is in the customer's way; his device has to sign in
)

// Repaired tells a person what was done.
type Repaired struct {
	Outcome RepairOutcome
	Message string
}

// otherSecret tells a person why nobody can sign in at a router.
const otherSecret = "The router has another RADIUS secret than is kept here. Run its bootstrap script again."

// answeredByOld tells a person that a program refuses by what was true before.
const answeredByOld = "The program that answers this router does not know what the log has. Whoever runs the " +
	"platform finds it by lastmile_access_directory_age_seconds or its readiness, and restarts it; then the " +
	"customer's device has to dial."

// walledByOther tells a person about an entry that another sign-in would not take away.
const walledByOther = "The customer's sign-in has put no address into the address list walled-garden, so another one " +
	"would change nothing: another session or a rule of the router made the entry. Look at the router's firewall " +
	"rules that add addresses to this list, and remove the entry of the customer's address there."

// blocked says what a person has to do about a refusal that lasts although the customer has paid. Other refusals of
// customers have ended by themselves, since he is entitled.
var blocked = map[directory.Code]string{
	directory.CodeWrongMAC: "The customer signs in with another device than those of the subscription. Ask which " +
		"one he uses, and correct the MAC addresses of the subscription.",
	directory.CodeUnknownUser: "The customer's device has the username of before it was changed. Show him the " +
		"present one, or give the subscription the former one again.",
	directory.CodeWrongPassword: "The customer's device has another password. Show him his password, or give the " +
		"subscription another one.",
	directory.CodeNoProof: "The customer's device asks for a sign-in that needs no password. Set it to PAP, CHAP or " +
		"MS-CHAP.",
	directory.CodeBadRequest: "The router sends sign-ins that cannot be read. Look at its RADIUS settings.",
	directory.CodeNoSession: "The customer's device signs in, is let in, and has no session. Look whether the router " +
		"has the pools of the plan, whether its RADIUS secret is the one kept here, and whether answers reach it: " +
		"its log tells.",
	directory.CodeTooManyCodes: "Too many wrong passwords were tried: of this customer's account, or by another " +
		"device with the same MAC for several accounts. While that goes on, the right one is refused, too. Find " +
		"who tries them (who has paid and has a wrong password is among the differences of the router), and " +
		"correct the password there. After some minutes without a wrong one the next sign-in is accepted. A device " +
		"whose MAC is registered for the subscription need not wait.",
	directory.Code(radius.WrongSecret.String()): otherSecret,
	directory.Code(radius.Unproven.String()): "The router does not sign its packets, and must. Update it, bring " +
		"its tunnel up, or change requireMessageAuthenticator of the router.",
}

// Repair ends a difference while a person waits. It looks at the router first, so pressing twice does nothing twice:
// what has gone is closed. Fails: difference_not_found; repair_by_hand when only people can; where nothing can be said
// now device_unreachable, router_not_readable, access_reports_waiting, access_directory_behind or
// access_events_unreadable; repair_refused.
func (a *Auditor) Repair(ctx context.Context, difference id.Difference, meta commands.Meta) (Repaired, error) {
	lock, err := a.Locks.Lock(ctx, "access repair "+difference.String())
	if err != nil {
		return Repaired{}, err
	}
	defer lock.Unlock()
	state, err := a.differenceOf(ctx, meta.OrgID, difference)
	if err != nil {
		return Repaired{}, err
	}
	s, err := a.observe(ctx, state.DeviceID)
	switch {
	case err != nil:
		return Repaired{}, err
	case s.unseen != "":
		return Repaired{}, s.blind()
	}
	f, is := s.found[difference]
	switch {
	case !is:
		_, err := a.Bus.Execute(ctx, commands.CloseDifference{DifferenceID: difference}, meta)
		return Repaired{RepairGone, "The router does not show this difference any more."}, err
	case f.byHand != "":
		return Repaired{}, commands.ErrRepairByHand(f.byHand)
	}
	done, err := a.repair(ctx, f, meta)
	if err != nil {
		return Repaired{}, notRepaired(err)
	}
	return done, a.Queue.Insert(ctx, commands.AuditRouter{DeviceID: f.DeviceID}, id.New[id.Any](),
		jobs.Cause{OrgID: f.OrgID, Actor: auditActor}, 0)
}

// blind is the failure of a repair whose look could not compare.
func (s seen) blind() error {
	switch s.unseen {
	case UnseenReports:
		return commands.ErrReportsWaiting()
	case UnseenLogins:
		return commands.ErrAccessBehind()
	case UnseenEvents:
		return commands.ErrAccessUnreadable()
	case UnseenRefuses:
		return commands.ErrRouterUnreadable(wordsOf(s.fault))
	}
	switch failure.KindOf(s.fault) {
	case failure.Denied, failure.NotFound: // its own text says why the router is not called
		return s.fault
	}
	return routeros.ErrUnreachable(0, s.fault)
}

// notRepaired is the failure of a repair that was tried.
func notRepaired(err error) error {
	kind := failure.KindOf(err)
	var off *staysOff
	switch {
	case errors.As(err, &off):
		return commands.ErrRepairByHand(off.why)
	case errors.Is(err, errIncomplete):
		return commands.ErrAccessUnreadable()
	case errors.Is(err, errRefused) && kind != failure.Refused:
		return commands.ErrRepairRefused("by RADIUS, and its own interface does not answer.")
	case errors.Is(err, errRefused), kind == failure.Refused:
		return commands.ErrRepairRefused(wordsOf(err))
	case errors.Is(err, errUnreachable), errors.Is(err, context.DeadlineExceeded):
		return routeros.ErrUnreachable(0, err)
	}
	return err
}

// wordsOf gives the words of a router that refused, as the end of a sentence.
func wordsOf(err error) string {
	var said *failure.Error
	if !errors.As(err, &said) || said.Message == "" {
		return "it gives no reason."
	}
	return strings.TrimRight(spoken(said.Message), ".") + "."
}

// repair does what the kind of a difference needs.
func (a *Auditor) repair(ctx context.Context, f Found, meta commands.Meta) (Repaired, error) {
	switch {
	case f.shown != nil && !f.shown.reports:
		return a.repairUnreported(ctx, f, meta)
	case !f.session.IsZero():
		if err := a.asked(ctx, f, nil, meta); err != nil {
			return Repaired{}, err
		}
		return a.repairSession(ctx, f, meta)
	case f.Kind == events.UnknownSession, f.Kind == events.LocalBypass:
		return a.repairLocal(ctx, f, meta)
	}
	return Repaired{RepairWaiting, "Nothing is in the customer's way any more. A sign-in was refused as " +
			f.code + ", the next one is accepted: the customer's device has to dial, or to be switched off and on."},
		a.asked(ctx, f, nil, meta)
}

// asked records who wants what, before any router is asked.
func (a *Auditor) asked(ctx context.Context, f Found, steps []events.RouterStep, meta commands.Meta) error {
	_, err := a.Bus.Execute(ctx, commands.AskRepair{
		DifferenceID: f.DifferenceID, Steps: steps, By: meta.Actor, CorrelationID: correlationOf(meta),
	}, meta)
	return err
}

// causeOf is the cause of what a person wants.
func causeOf(meta commands.Meta) jobs.Cause {
	return jobs.Cause{
		OrgID: meta.OrgID, Actor: meta.Actor, JobID: id.Any(meta.CommandID), CorrelationID: correlationOf(meta),
	}
}

// correlationOf joins everything that follows from a request.
func correlationOf(meta commands.Meta) string {
	return cmp.Or(meta.CorrelationID, meta.CommandID.String())
}

// repairSession brings a session of ours to what it is entitled to, as a person wants it.
func (a *Auditor) repairSession(ctx context.Context, f Found, meta commands.Meta) (Repaired, error) {
	done, did, err := a.bringOpen(ctx, f, &meta, causeOf(meta))
	switch {
	case err != nil:
		return Repaired{}, err
	case !did:
		return Repaired{RepairGone, "The session has ended."}, nil
	case done.gone:
		return Repaired{RepairDone, "The router does not have the session, so it is no longer shown as online."}, nil
	case done.via == events.ViaUnverified:
		return Repaired{RepairDone, "The router has acknowledged the speed, which could not be read back. The next " +
			"look compares it."}, nil
	case done.action == events.ChangeRate:
		return Repaired{RepairDone, "The speed of the session was set again."}, nil
	case f.rests:
		return Repaired{RepairDone, endedOnceMore}, nil
	}
	return Repaired{RepairDone, endedAndBack(f.Kind)}, nil
}

// endedAndBack tells a person that a session was ended. What else than the sign-in puts an address into the walled
// garden is known when the next session is there, too.
func endedAndBack(kind events.AccessDifferenceKind) string {
	if kind == events.PaidButWalledIn {
		return "The session was ended, and what its sign-in put into the walled garden went with it. The customer's " +
			"device signs in again. When it is in the walled garden then, too, the difference comes again, and tells " +
			"what to do."
	}
	return "The session was ended. The customer's device signs in again and gets what it should."
}

// repairUnreported ends a session whose reports do not come.
func (a *Auditor) repairUnreported(ctx context.Context, f Found, meta commands.Meta) (Repaired, error) {
	if err := a.asked(ctx, f, nil, meta); err != nil {
		return Repaired{}, err
	}
	done, did, err := a.endUnreported(ctx, f, &meta, causeOf(meta))
	switch {
	case err != nil:
		return Repaired{}, err
	case !did, done.gone:
		return Repaired{RepairGone, "The router does not show the session any more, or it is right by now."}, nil
	}
	if f.rests {
		return Repaired{RepairDone, endedOnceMore}, nil
	}
	return Repaired{RepairDone, endedAndBack(f.Kind)}, nil
}

// again is the change of a session that is thought to be right.
func (a *Auditor) again(s telemetry.Session, kind events.AccessDifferenceKind) change {
	p := a.Entitled.Directory.Present(s.SubscriptionID, a.Clock.Now())
	if kind != events.WrongRate || p.RateLimit == "" {
		c := ending(s, ReasonAuditor)
		c.anyway = kind != events.PaidButWalledIn && kind != events.WrongRate
		return c
	}
	after := events.SessionGrant{Access: p.Grant.Access.String(), Down: p.Grant.Down, Up: p.Grant.Up}
	return change{
		action: events.ChangeRate, reason: ReasonAuditor, after: after, limit: p.RateLimit,
		regrant: telemetry.Given{
			Access: after.Access, RateDown: after.Down, RateUp: after.Up, Stamp: p.Grant.Stamp(),
		},
	}
}

// repairLocal takes a session of nobody, or a local way in, away from the router. Everything that is written is
// announced before, and recorded after.
func (a *Auditor) repairLocal(ctx context.Context, f Found, meta commands.Meta) (Repaired, error) {
	writes, err := a.Shown.PlanLocal(ctx, f.DeviceID, f.login)
	if err != nil {
		return Repaired{}, fmt.Errorf("%w: %w", errUnreachable, err)
	}
	if len(writes) == 0 {
		return Repaired{RepairGone, "The router does not have it any more."}, nil
	}
	steps := make([]events.RouterStep, len(writes))
	var told []string
	for i, w := range writes {
		steps[i] = events.RouterStep{
			Path: w.Path, Operation: w.Operation, Name: string(f.Kind), Before: w.Before, After: w.After,
		}
		word := "removed from "
		if w.Operation == "set" {
			word = "disabled in "
		}
		told = append(told, word+"/"+w.Path)
	}
	if err := a.asked(ctx, f, steps, meta); err != nil {
		return Repaired{}, err
	}
	for _, w := range writes {
		if err := a.writeLocal(ctx, f, w, meta); err != nil {
			return Repaired{}, err
		}
	}
	return Repaired{RepairDone, "On the router it was " + strings.Join(told, ", and ") + "."}, nil
}

// writeLocal makes one announced write and records it. What the router did is recorded also when the caller has gone.
func (a *Auditor) writeLocal(ctx context.Context, f Found, w LocalWrite, meta commands.Meta) error {
	a.step("announced")
	did, err := a.Shown.WriteLocal(ctx, f.DeviceID, w)
	if k := failure.KindOf(err); k == failure.Refused || k == failure.Denied {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errUnreachable, err)
	}
	a.step("written")
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	meta.CommandID = id.Derive[id.Command]("access repair", meta.CommandID.String(), w.Path, w.Operation, w.ID)
	_, err = a.Bus.Execute(ctx, commands.RecordRepairWrite{DifferenceID: f.DifferenceID, Found: !did}, meta)
	a.step("kept")
	return err
}

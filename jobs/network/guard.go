package networkjobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
)

// guard is the rollback on the router under which a run makes the writes that could cut the platform off. The zero
// value is none.
type guard struct {
	name    string        // of the entry in the router's scheduler; "" = none was ever sent
	script  string        // what its entries restore: the router before the first write of the run; "" = not known yet
	until   time.Time     // no such write is sent afterwards, to leave time for reading back; zero = not read back
	after   time.Duration // whole minutes after which the router restores itself
	touched bool          // such a write was sent
	unsure  bool          // it may not restore: its removal was sent, or the router will not run it
}

// longestRollback bounds the time after which a slow router restores itself.
const longestRollback = 15 * time.Minute

// safely brings a router in line by writes that could cut the way to it. Each round begins with a reading over a new
// connection, because a kept one goes on when the way is cut. What is risky is written only while the router has a
// rollback that was read back. The rollback is removed when nothing differs any more, and the run is over when the
// router shows that it is gone and that nothing was taken back. first is compared until its writes were answered, then
// after. Source: docs/rules/network.md#rollback.
func (u *run) safely(ctx context.Context, first, after comparison) error {
	c := first
	for range 2 * maxRounds {
		snapshot, err := u.anew(ctx, c.menus)
		if err != nil {
			return u.unsafe(ctx, stop(ctx, commands.OperationRead, err))
		}
		diff := c.compare(snapshot)
		steps := diff.Plan()
		if err := u.settle(ctx, slices.Concat(steps, routerplan.Unwritten(snapshot))); err != nil {
			return err
		}
		left := routerplan.LeftRollbacks(snapshot, u.id)
		var answered, over bool
		switch {
		case len(left) > 0: // it would undo later what is compared now
			_, err = u.writeAll(ctx, left)
		case len(steps) > 0:
			if answered, err = u.guarded(ctx, snapshot, steps); answered {
				c = after
			}
		default:
			over, err = u.disarmed(ctx, snapshot, c)
		}
		if err != nil {
			return u.unsafe(ctx, err)
		}
		if over {
			u.note(diff.Faults())
			return nil
		}
	}
	return u.unsafe(ctx, &stopped{outcome: events.ReconcileUnstable, operation: commands.OperationVerify,
		message: "The router still differs after several writes. Something else is changing it."})
}

// anew reads menus, and what is needed for the rollback, over a new connection. It measures how fast the router
// answers, and finds the rollback of an earlier attempt.
func (u *run) anew(ctx context.Context, menus []string) (routerplan.Snapshot, error) {
	u.r.Device = u.w.again(u.r)
	menus = union(menus, []string{routerplan.MenuScheduler})
	began := u.w.paced()
	snapshot, err := u.r.permitted(ctx, menus)
	if err != nil {
		return nil, err
	}
	u.pace = u.w.paced().Sub(began) * readers / time.Duration(len(menus))
	own := routerplan.Rollbacks(snapshot, u.id)
	if u.guard.name == "" && len(own) > 0 {
		u.guard = guard{
			name: own[0]["name"], script: own[0]["on-event"], after: routerplan.RollbackAfter, touched: true,
		}
		for _, timed := range routerplan.Timed(snapshot, u.id) {
			u.guard.after, _ = routerplan.ParseDuration(timed["interval"])
		}
	}
	return snapshot, nil
}

// guarded makes the writes of one round: first those without a risk, then the rollback, then the others. answered
// reports whether the router has answered all of the first ones.
func (u *run) guarded(
	ctx context.Context, snapshot routerplan.Snapshot, steps []routerplan.Step,
) (answered bool, err error) {
	risky := routerplan.Risky(steps)
	calm := slices.DeleteFunc(slices.Clone(steps), routerplan.Step.Risky)
	if len(calm) > 0 {
		again, err := u.writeAll(ctx, calm)
		if err != nil || again == nil {
			return false, err
		}
	}
	if len(risky) == 0 {
		return true, nil
	}
	armed, err := u.arm(ctx, snapshot, len(risky))
	if err != nil || !armed {
		return true, err
	}
	_, err = u.writeAll(ctx, risky)
	return true, err
}

// arm gives the router a rollback and reads it back. A rollback that the run has already is replaced by one that
// restores the same and counts from now. armed is false when the request was lost: the next round tries again.
func (u *run) arm(ctx context.Context, snapshot routerplan.Snapshot, writes int) (armed bool, err error) {
	if taken := routerplan.Unarmable(snapshot); taken != "" {
		return false, u.unguarded(taken)
	}
	if own := routerplan.Timed(snapshot, u.id); len(own) > 1 { // both names are taken: the end of a renewal was lost
		_, err := u.writeAll(ctx, routerplan.Renewed(snapshot, u.id, own[len(own)-1]["name"]))
		return false, err
	}
	after := u.enough(writes)
	began := u.w.paced()
	steps := u.restoring(routerplan.Arm(snapshot, u.id, after))
	name := steps[0].Name
	if u.guard.name == "" {
		u.guard.name, u.guard.after = name, after
	}
	if again, err := u.writeAll(ctx, steps); err != nil || again == nil {
		return false, err
	}
	if err := u.r.refresh(ctx, snapshot, rollbackMenus()); err != nil {
		return false, stop(ctx, commands.OperationVerify, err)
	}
	fault, missing := routerplan.Armed(snapshot, u.id, name, after)
	switch {
	case missing:
		return false, nil
	case fault != "":
		return false, u.dead(ctx, snapshot, steps, fault)
	}
	u.guard.name, u.guard.after, u.guard.until = name, after, began.Add(after*2/3)
	former := routerplan.Renewed(snapshot, u.id, name)
	if len(former) == 0 {
		return true, nil
	}
	again, err := u.writeAll(ctx, former)
	return again != nil, err
}

// rollbackMenus lists the menus that show whether a router will restore itself.
func rollbackMenus() []string { return []string{routerplan.MenuScheduler, routerplan.MenuClock} }

// restoring makes new entries restore the router as it was before the first write of the run, also when the former ones
// are gone: then they have fired, or somebody removed them.
func (u *run) restoring(steps []routerplan.Step) []routerplan.Step {
	if u.guard.script == "" {
		u.guard.script = steps[0].Values["on-event"]
	}
	for _, step := range steps {
		step.Values["on-event"] = u.guard.script
	}
	return steps
}

// dead removes the entries that were added, which the router will not run, and ends the run with the reason.
func (u *run) dead(ctx context.Context, s routerplan.Snapshot, added []routerplan.Step, fault string) error {
	removals := slices.DeleteFunc(routerplan.Disarm(s, u.id), func(x routerplan.Step) bool {
		return !slices.ContainsFunc(added, func(a routerplan.Step) bool { return a.Name == x.Name })
	})
	if _, err := u.writeAll(ctx, removals); err != nil {
		return err
	}
	u.guard.unsure = true
	return u.unguarded(fault)
}

// unguarded ends a run whose router cannot be given a rollback, with the reason.
func (u *run) unguarded(fault string) error {
	if !u.guard.touched {
		fault += " Nothing was written that could cut the platform off."
	}
	return &stopped{outcome: events.ReconcileRefused, path: routerplan.MenuScheduler,
		operation: commands.OperationVerify, message: fault}
}

// enough is the time, in whole minutes, in which a number of writes is certainly made and read back at the router's
// pace. Before each one the row and the rollback are read.
func (u *run) enough(writes int) time.Duration {
	calls := 4*writes + len(routerplan.SetupMenus(routerplan.Firewall{CPE: u.w.cfg.CPE})) + 4
	needed := (2*u.pace*time.Duration(calls) + time.Minute - 1).Truncate(time.Minute)
	return min(max(needed, routerplan.RollbackAfter), longestRollback)
}

// disarmed removes the rollback after a reading that shows no difference. over reports whether it is gone, or was never
// there, and the router still does not differ: one that was gone before its removal has taken the writes back.
func (u *run) disarmed(ctx context.Context, snapshot routerplan.Snapshot, c comparison) (over bool, err error) {
	steps := routerplan.Disarm(snapshot, u.id)
	if len(steps) == 0 {
		return true, nil
	}
	u.guard.unsure = true
	if _, err := u.writeAll(ctx, steps); err != nil {
		return false, err
	}
	menus := []string{routerplan.MenuScheduler}
	for _, menu := range c.menus {
		if (routerplan.Step{Path: menu}).Risky() && snapshot[menu] != nil {
			menus = union(menus, []string{menu})
		}
	}
	if err := u.r.refresh(ctx, snapshot, menus); err != nil {
		return false, stop(ctx, commands.OperationVerify, err)
	}
	gone := len(routerplan.Rollbacks(snapshot, u.id)) == 0
	return gone && len(c.compare(snapshot).Plan()) == 0, nil
}

// unsafe ends a run in the middle. A router to which nothing risky was written loses its rollback. Any other one keeps
// it, restores itself, and the message says so: half of the writes may be what cuts the way.
func (u *run) unsafe(ctx context.Context, err error) error {
	var why *stopped
	if u.guard.name == "" || !errors.As(err, &why) {
		return err
	}
	if why.outcome == events.ReconcileUnreachable && u.guard.until.IsZero() && !u.guard.touched {
		return err // the router may have an entry, and nothing that it would restore
	}
	if why.outcome != events.ReconcileUnreachable && !u.guard.touched {
		left := u.release(ctx)
		if left == nil {
			return err
		}
		u.w.cfg.Logger.WarnContext(ctx, "rollback stays armed", "device_id", u.r.row.ID, "error", left)
	}
	minutes := fmt.Sprint(int(u.guard.after / time.Minute))
	if u.guard.after == routerplan.RollbackAfter {
		minutes = "three"
	}
	verb := "restores"
	if u.guard.unsure {
		verb = "may restore"
	}
	why.message = fmt.Sprintf("%s The router %s its former setup by itself within %s minutes.",
		ended(why.message), verb, minutes)
	return err
}

// ended gives a text a full stop when it has no end.
func ended(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}

// errRollbackStays answers when a rollback is still there after several removals.
var errRollbackStays = errors.New("the rollback is still on the router")

// release removes the rollback of a router to which nothing risky was written, until a reading shows that it is gone.
func (u *run) release(ctx context.Context) error {
	for range maxRounds {
		snapshot, err := u.anew(ctx, nil)
		if err != nil {
			return err
		}
		steps := routerplan.Disarm(snapshot, u.id)
		if len(steps) == 0 {
			return nil
		}
		if _, err := u.writeAll(ctx, steps); err != nil {
			return err
		}
	}
	return errRollbackStays
}

// guarding reports whether a step may be sent: it is not risky, or the router has just shown that it will restore
// itself, and late enough. The platform's clock alone does not say so: a rollback counts by the router's clock, which
// may jump, and anybody may remove it. When the router has none that counts, it is given another one at once, over the
// connection that is still open: the writes so far may have cut the way for every other one. When that fails after such
// a write, the next round's reading shows first whether the router is still reached.
func (u *run) guarding(ctx context.Context, s routerplan.Step) (bool, error) {
	if !s.Risky() {
		return true, nil
	}
	if !u.w.paced().Before(u.guard.until) {
		return false, nil
	}
	now := routerplan.Snapshot{}
	if err := u.r.refresh(ctx, now, rollbackMenus()); err != nil {
		return false, stop(ctx, commands.OperationVerify, err)
	}
	fault, missing := routerplan.Armed(now, u.id, u.guard.name, u.guard.after)
	if fault == "" && !missing {
		return true, nil
	}
	_, err := u.arm(ctx, now, 1)
	var why *stopped
	if u.guard.touched && errors.As(err, &why) && why.refused() {
		return false, nil
	}
	return false, err
}

// again gives the device of a router with new connections.
func (w *Workers) again(r router) *routeros.Device {
	target := r.Target()
	w.cfg.Gateway.Forget(target.ID)
	return w.cfg.Gateway.Device(target)
}

package commands

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// NewPlan is the version of a plan that a subscription is to have. The caller must read it from the log.
type NewPlan struct {
	PlanID  id.Plan
	Version int
	Terms   events.PlanTerms
}

// ChangePlan gives a subscription another plan, as a preview told it: at once, or from the next period on. Fails:
// subscription_not_found, subscription_ended, subscription_paused, billing_suspended, period_undone,
// payment_taken_back, plan_not_alike, plan_change_paid, preview_stale.
type ChangePlan struct {
	SubscriptionID id.Subscription
	NewPlan
	Preview string // what the preview was named by
}

// MovePlan gives the next periods of a subscription to a version of its plan. It changes nothing when the subscription
// has ended, has another plan by now, or has the version. Fails: subscription_not_found, plan_not_alike,
// plan_change_paid.
type MovePlan struct {
	SubscriptionID id.Subscription
	NewPlan
	MoveID id.PlanMove
}

// UndoPlanMove gives a subscription back the version that it had before a move, and replaces unpaid invoices of the new
// one. It changes nothing when that was done. Fails: subscription_not_found, subscription_ended, subscription_paused,
// billing_suspended, payment_taken_back, plan_move_began, corrected_since.
type UndoPlanMove struct {
	SubscriptionID id.Subscription
	MoveID         id.PlanMove
}

// ApplyPlanChange changes the service as it was planned, when the time before the change is over. Asked too early it
// tells when that will be. It changes nothing where no change is planned. Fails: subscription_not_found.
type ApplyPlanChange struct{ SubscriptionID id.Subscription }

func (ChangePlan) CommandName() string       { return "subscribers.ChangePlan" }
func (MovePlan) CommandName() string         { return "subscribers.MovePlan" }
func (UndoPlanMove) CommandName() string     { return "subscribers.UndoPlanMove" }
func (ApplyPlanChange) CommandName() string  { return "subscribers.ApplyPlanChange" }
func (ChangePlan) subscriptionCommand()      {}
func (MovePlan) subscriptionCommand()        {}
func (UndoPlanMove) subscriptionCommand()    {}
func (ApplyPlanChange) subscriptionCommand() {}

func (c ChangePlan) Target() Target      { return At(SubscriptionCategory, c.SubscriptionID) }
func (c MovePlan) Target() Target        { return At(SubscriptionCategory, c.SubscriptionID) }
func (c UndoPlanMove) Target() Target    { return At(SubscriptionCategory, c.SubscriptionID) }
func (c ApplyPlanChange) Target() Target { return At(SubscriptionCategory, c.SubscriptionID) }

func (ChangePlan) Validate() error      { return nil }
func (MovePlan) Validate() error        { return nil }
func (UndoPlanMove) Validate() error    { return nil }
func (ApplyPlanChange) Validate() error { return nil }

// ErrPreviewStale is the failure of a change whose preview is not what the change would do.
func ErrPreviewStale() error {
	return failure.NewConflict("preview_stale",
		"This preview is no longer true: a day has passed, something was changed, or it was used. Look at it again.")
}

// ErrPlanNotAlike is the failure for a plan that a subscription cannot change to.
func ErrPlanNotAlike() error {
	return failure.NewConflict("plan_not_alike", "A subscription keeps its kind, its currency, and whether it is paid "+
		"before or after a period. End it, and begin another one with this plan.")
}

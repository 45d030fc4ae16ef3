package subscribersviews

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// PlannedPlan is a change to another plan that comes with a later period.
type PlannedPlan struct {
	PlanID  id.Plan          `json:"planId"`
	Version int              `json:"version"`
	Terms   events.PlanTerms `json:"terms"`
	MoveID  id.PlanMove      `json:"moveId,omitzero"`
	// EffectiveAt is zero while a period before the change waits for its first payment.
	EffectiveAt time.Time `json:"effectiveAt,omitzero"`
}

// applyPlan queues what an event about the plan changes.
func applyPlan(w *runner.Writes, e events.Event, revision int64) error {
	switch v := e.(type) {
	case events.SubscriptionPlanChanged:
		terms, err := json.Marshal(v.Terms)
		if err != nil {
			return fmt.Errorf("marshal terms: %w", err)
		}
		w.Exec(`update {schema}.subscriptions
			set plan_id = $2, plan_version = $3, terms = $4, planned = null, next_terms = null, revision = $5
			where subscription_id = $1`, v.SubscriptionID, v.PlanID, v.PlanVersion, string(terms), revision)
	case events.PlanChangePlanned:
		planned, err := json.Marshal(PlannedPlan{
			PlanID: v.PlanID, Version: v.PlanVersion, Terms: v.Terms, MoveID: v.MoveID, EffectiveAt: v.EffectiveAt,
		})
		if err != nil {
			return fmt.Errorf("marshal planned terms: %w", err)
		}
		w.Exec(`update {schema}.subscriptions set planned = $2, next_terms = null, revision = $3
			where subscription_id = $1`, v.SubscriptionID, string(planned), revision)
	case events.PlanChangeMoved:
		w.Exec(`update {schema}.subscriptions
			set planned = jsonb_set(planned, '{effectiveAt}', to_jsonb($2::text)), revision = $3
			where subscription_id = $1`, v.SubscriptionID, v.EffectiveAt.UTC().Format(time.RFC3339Nano), revision)
	case events.PlanChangeDropped:
		w.Exec(`update {schema}.subscriptions set planned = null, next_terms = null, revision = $2
			where subscription_id = $1`, v.SubscriptionID, revision)
	}
	return nil
}

// tellNext queues the terms of the next period where an event about another one tells them.
func tellNext(w *runner.Writes, e events.Event) error {
	var of id.Subscription
	var next events.PlanTerms
	switch v := e.(type) {
	case events.PeriodDue:
		of, next = v.SubscriptionID, v.NextTerms
	case events.PeriodCancelled:
		of, next = v.SubscriptionID, v.NextTerms
	}
	if !next.Told() {
		return nil
	}
	terms, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("marshal next terms: %w", err)
	}
	w.Exec(`update {schema}.subscriptions set next_terms = $2 where subscription_id = $1`, of, string(terms))
	return nil
}

package subscribersviews

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// ExtraRow stands, or stood, on invoices of a subscription beside the price of its plan.
type ExtraRow struct {
	SubscriptionID id.Subscription `db:"subscription_id"`
	Extra          events.Extra    `db:"extra"`
	Description    string          `db:"description"` // "" = erased
	Ordinals       []int           `db:"ordinals"`    // of the newest periods that have it
	Before         int             `db:"before"`      // how many older ones have it
	Final          bool            `db:"final"`       // it is on the invoice of the subscription's end
	AddedAt        time.Time       `db:"added_at"`
	RemovedAt      *time.Time      `db:"removed_at"` // nil: later periods may have it
}

// Held is the row as decisions have it.
func (r ExtraRow) Held() events.HeldExtra {
	return events.HeldExtra{
		Extra: r.Extra, On: r.Ordinals, Before: r.Before, Final: r.Final, Removed: r.RemovedAt != nil,
	}
}

// Statements about extras.
const (
	extraAddedSQL = `
insert into {schema}.extras (subscription_id, extra_id, org_id, extra, description, added_at)
values (@subscription, @extra_id, @org, @extra, @description, @at)
on conflict (subscription_id, extra_id) do nothing`
	extraRemovedSQL = `
update {schema}.extras set removed_at = coalesce(removed_at, $3) where subscription_id = $1 and extra_id = $2`
	extrasDueSQL = `
update {schema}.extras set
	ordinals = (ordinals || $3::integer)[greatest(1, cardinality(ordinals) + 2 - $4::integer):],
	before = before + case when cardinality(ordinals) >= $4 then 1 else 0 end
where subscription_id = $1 and extra_id = any($2::uuid[]) and not $3 = any(ordinals)`
	extrasReturnedSQL = `
update {schema}.extras set ordinals = array_remove(ordinals, $2::integer)
where subscription_id = $1 and not ($3 and extra ->> 'kind' = 'charge')`
	extrasFinalSQL = `
update {schema}.extras set final = true where subscription_id = $1 and extra_id = any($2::uuid[])`
	extraRevisionSQL = `
update {schema}.subscriptions set revision = $2 where subscription_id = $1`
	forgetExtrasSQL = `
update {schema}.extras e set description = '' from {schema}.subscriptions s
where s.subscription_id = e.subscription_id and s.subscriber_id = $1`
)

// applyExtras queues what an event changes about extras; other events queue nothing.
func applyExtras(w *runner.Writes, e events.Event, revision int64) error {
	switch v := e.(type) {
	case events.ExtraAdded:
		extra, err := json.Marshal(v.Extra)
		if err != nil {
			return fmt.Errorf("marshal extra: %w", err)
		}
		w.Exec(extraAddedSQL, pgx.NamedArgs{
			"subscription": v.SubscriptionID, "extra_id": v.Extra.ID, "org": v.OrgID, "extra": string(extra),
			"description": v.Description.Reveal(), "at": v.At,
		})
		w.Exec(extraRevisionSQL, v.SubscriptionID, revision)
	case events.ExtraRemoved:
		w.Exec(extraRemovedSQL, v.SubscriptionID, v.Extra.ID, v.At)
		w.Exec(extraRevisionSQL, v.SubscriptionID, revision)
	case events.PeriodDue:
		if len(v.Extras) > 0 {
			w.Exec(extrasDueSQL, v.SubscriptionID, extraIDs(v.Extras), v.Ordinal, events.ExtraPeriods)
		}
	case events.PeriodCancelled:
		if v.ReturnsExtras() {
			w.Exec(extrasReturnedSQL, v.SubscriptionID, v.Ordinal, v.DropsCharges)
		}
	case events.ChargesDue:
		w.Exec(extrasFinalSQL, v.SubscriptionID, extraIDs(v.Charges))
		w.Exec(extraRevisionSQL, v.SubscriptionID, revision)
	}
	return nil
}

// extraIDs lists the ids of extras.
func extraIDs(list []events.PeriodExtra) []id.Extra {
	ids := make([]id.Extra, len(list))
	for i, x := range list {
		ids[i] = x.ID
	}
	return ids
}

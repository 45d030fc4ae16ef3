package subscribersviews_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// TestWhole_LooksEachCustomerUpInATableThatTheServerDoesNotKnow: the plan is kept while an import fills the table, and
// each answer to a write would read all customers of the organization.
func TestWhole_LooksEachCustomerUpInATableThatTheServerDoesNotKnow(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	people := subscribersviews.SubscribersQuery{Views: viewsOn(t, db, feedtest.New())}
	asked := make([]id.Subscriber, 10) // as many as the server expects in a plan that it keeps
	for i := range asked {
		asked[i] = id.New[id.Subscriber]()
	}
	plan := explain(t, db, acme, people.Text(subscribersviews.WholeSQL),
		pgx.NamedArgs{"org": acme, "subscribers": asked, "now": began})
	if !strings.Contains(plan, "using subscribers_pkey") || strings.Contains(plan, "subscribers_newest") {
		t.Errorf("customers are not looked up by their keys:\n%s", plan)
	}
}

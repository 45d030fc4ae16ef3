package subscribersviews_test

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// TestPayers_AreFoundAmong100000ByNameAndAmount: neither a name of many nor an amount that thousands owe is a search
// through all customers, and what fits many says nothing about any.
func TestPayers_AreFoundAmong100000ByNameAndAmount(t *testing.T) {
	t.Parallel()
	db := crowded.New(t)
	q := subscribersviews.SubscribersQuery{Views: viewsOn(t, db, toldOnce())}
	for name, c := range map[string]struct {
		payer string
		minor int64
		want  int
	}{
		"two words, backwards":       {"LAST777 MIDDLE FIRST777", 1, 1},
		"first name of a hundred":    {"FIRST7", 1, 0},
		"an amount of thousands":     {"", 500, 0},
		"a name and such an amount":  {"LAST25", 500, 1},
		"another owes that":          {"LAST777", 500, 0},
		"a phone as name":            {"0700000777 00000777", 1, 0},
		"letters of one":             {"A B C", 1, 0},
		"nobody":                     {"", 1, 0},
		"one too many for each word": {"First7 First8 First9", 1, 0},
	} {
		of := subscribersviews.Payment{Name: c.payer, Amount: money.Of(c.minor, money.KES)}
		var found []id.Subscriber
		err := db.TenantRead(t.Context(), acme.UUID(), func(r *postgres.Reads) { q.LikePayer(r, &found, acme, of) })
		if err != nil || len(found) != c.want {
			t.Errorf("%s: %d found, want %d (%v)", name, len(found), c.want, err)
		}
		err = db.TenantRead(t.Context(), other.UUID(), func(r *postgres.Reads) { q.LikePayer(r, &found, acme, of) })
		if err != nil || len(found) != 0 && !slices.Contains(found, id.Subscriber{}) {
			t.Errorf("%s: another tenant found %d (%v)", name, len(found), err)
		}
	}
	plan := explain(t, db, acme, q.Text(*subscribersviews.PayerFindSQL), pgx.NamedArgs{
		"org": acme, "words": []string{"first7", "last777"}, "amount": 500, "currency": "KES", "most": 5,
		"most_worded": 10000,
	})
	if scanned.MatchString(plan) || removed.MatchString(plan) {
		t.Errorf("plan:\n%s", plan)
	}
}

package networkapi

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// Each page is full while there are more, and the pages together have every router once that has the property.
func TestChosen_PagesHaveEachRouterWithThePropertyOnce(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	rows := make([]networkviews.DeviceRow, 2*scanned+7) // newest first
	for i := range rows {
		rows[i] = networkviews.DeviceRow{
			ID: id.Derive[id.Device]("test", strconv.Itoa(i)), CreatedAt: began.Add(-time.Duration(i) * time.Second),
			Rotated: i%40 == 0,
		}
	}
	list := func(_ context.Context, after networkviews.DeviceKey, max int) ([]networkviews.DeviceRow, error) {
		from := 0
		for !after.CreatedAt.IsZero() && !rows[from].CreatedAt.Before(after.CreatedAt) {
			if from++; from == len(rows) {
				return nil, nil
			}
		}
		return rows[from:min(from+max, len(rows))], nil
	}
	page := func(after networkviews.DeviceKey, max int,
		has func(networkviews.DeviceRow) bool) []networkviews.DeviceRow {
		got, err := chosen(t.Context(), after, max, list, has)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	rotated := func(r networkviews.DeviceRow) bool { return r.Rotated }
	var key networkviews.DeviceKey
	var got []int
	for {
		next := page(key, 4, rotated)
		for _, r := range next {
			got = append(got, int(began.Sub(r.CreatedAt)/time.Second))
			key = r.Key()
		}
		if len(next) < 4 {
			break
		}
	}
	if len(got) != 11 {
		t.Errorf("found %v", got)
	}
	for i, at := range got {
		if at != 40*i {
			t.Errorf("place %d has router %d", i, at)
		}
	}
	if all := page(networkviews.DeviceKey{}, 30, nil); len(all) != 30 {
		t.Errorf("without a property: %d", len(all))
	}
	if none := page(networkviews.DeviceKey{}, 30, func(networkviews.DeviceRow) bool { return false }); len(none) != 0 {
		t.Errorf("a property that none has: %d", len(none))
	}
}

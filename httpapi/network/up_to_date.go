package networkapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/projections/network"
)

// scanned is how many routers one read brings while those with a property are looked for.
const scanned = 200

// upToDate reports whether a router needs no script: it has the newest one, and nothing that only a script can repair
// differs.
func (a API) upToDate(r networkviews.DeviceRow) bool {
	return r.BootstrapVersion >= a.BootstrapVersion && !scriptDue(r)
}

// chosen gives up to max routers after a key, in the order of a list, that have a property which SQL does not know. An
// organization has some thousand routers at most, so it reads the list until there are enough. nil chooses all.
func chosen(
	ctx context.Context, after networkviews.DeviceKey, max int,
	list func(context.Context, networkviews.DeviceKey, int) ([]networkviews.DeviceRow, error),
	has func(networkviews.DeviceRow) bool,
) ([]networkviews.DeviceRow, error) {
	if has == nil {
		return list(ctx, after, max)
	}
	var out []networkviews.DeviceRow
	for {
		rows, err := list(ctx, after, scanned)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			after = r.Key()
			if has(r) {
				out = append(out, r)
			}
			if len(out) == max {
				return out, nil
			}
		}
		if len(rows) < scanned {
			return out, nil
		}
	}
}

package httpapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/internal/null"
)

// Row is a row of a list. Its key is unique, and rows come in the order of their keys.
type Row[K any] interface{ Key() K }

// SendList answers with the page that limit and cursor ask for, in the envelope of all lists. read gives up to max rows
// behind a key; the zero key stands before the first row. A handler reads its filters before it calls SendList, so that
// all their faults are reported together.
func SendList[K any, R Row[K], T any](
	ctx context.Context, c *Call, show func(R) T, read func(ctx context.Context, after K, max int) ([]R, error),
) error {
	page, err := PageOf[K](c)
	if err != nil {
		return err
	}
	rows, err := read(ctx, null.Zero(page.After), page.Fetch())
	if err != nil {
		return err
	}
	return SendPage(ctx, c, page, rows, R.Key, show)
}

// Package devapi serves what exists in development only. Without its settings none of its routes exist.
package devapi

import (
	"context"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// Clock serves /dev/clock: the program's time, and moving it forward.
type Clock struct {
	Now func() time.Time
	// Move puts the clock ahead to an instant, unless that has passed when running work has ended, and returns when
	// everything that waits has been woken. It fails with clock_busy while running work does not end.
	Move func(ctx context.Context, to time.Time) error
}

// clockResponse is the program's time, in UTC.
type clockResponse struct {
	Now time.Time `json:"now"`
}

// clockRequest says how far to move; one of its fields is given.
type clockRequest struct {
	Advance *string    `json:"advance,omitempty" doc:"a duration such as 36h or 90m"`
	To      *time.Time `json:"to,omitempty" doc:"an instant that is not in the past"`
}

// maxMove bounds one move to ten years: a slip of the pen should not end every sign-in and certificate at once.
const maxMove = 10 * 366 * 24 * time.Hour

// Routes lists the endpoints.
func (a Clock) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/dev/clock", Hosts: httpapi.OnRoot, Access: httpapi.AccessSuperAdmin,
			Summary: "The program's time", Response: clockResponse{}, Handle: a.show,
		},
		{
			Method: http.MethodPost, Path: "/dev/clock", Hosts: httpapi.OnRoot, Access: httpapi.AccessSuperAdmin,
			Summary: "Move the program's time forward; everything that waits for a time follows",
			Request: clockRequest{}, Response: clockResponse{}, IgnoresIdempotency: true, Handle: a.move,
		},
	}
}

// show answers with the time.
func (a Clock) show(_ context.Context, c *httpapi.Call) error {
	return c.Send(http.StatusOK, clockResponse{a.Now().UTC()})
}

// move answers with the time after the move.
func (a Clock) move(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[clockRequest](c)
	if err != nil {
		return err
	}
	now := a.Now()
	d, err := in.distance(now)
	if err != nil {
		return err
	}
	if d > 0 {
		if err := a.Move(ctx, now.Add(d)); err != nil {
			return err
		}
	}
	return a.show(ctx, c)
}

// distance is how far the clock has to move from now; zero for the present instant. Fails: invalid_input.
func (in clockRequest) distance(now time.Time) (time.Duration, error) {
	var faults failure.Faults
	faults.Check((in.Advance == nil) != (in.To == nil), "advance", "is required, or to: one of the two")
	if err := faults.Err(); err != nil {
		return 0, err
	}
	field, d := "to", time.Duration(0)
	if in.Advance != nil {
		var err error
		field = "advance"
		d, err = time.ParseDuration(*in.Advance)
		faults.Check(err == nil, field, "must be a duration such as 36h or 90m")
	} else {
		d = in.To.Sub(now)
	}
	faults.Check(d >= 0, field, "must not move the clock back")
	faults.Check(d <= maxMove, field, "must be within ten years")
	return d, faults.Err()
}

package runner

import (
	"context"
	"errors"
)

// Look makes one of the looks of a watch that is not started.
func (f *Fresh) Look(ctx context.Context) { f.look(ctx) }

// FollowAll makes one round of the follower.
func (r *Runner) FollowAll(ctx context.Context) error { return r.followAll(ctx) }

// Apart has statements sent as they are queued.
func (s *Scratch) Apart() { s.g.apart = errApart }

// errApart is the reason that Apart gives.
var errApart = errors.New("a test wants it so")

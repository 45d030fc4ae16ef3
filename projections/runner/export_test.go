package runner

import "context"

// Look makes one of the looks of a watch that is not started.
func (f *Fresh) Look(ctx context.Context) { f.look(ctx) }

// FollowAll makes one round of the follower.
func (r *Runner) FollowAll(ctx context.Context) error { return r.followAll(ctx) }

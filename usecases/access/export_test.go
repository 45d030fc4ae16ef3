package accesscases

import "context"

// Round makes a meter that was not started do once what it does when it runs.
func (m *Meter) Round(ctx context.Context) bool { return m.round(ctx) }

// Served is served, for tests of the rule alone.
var Served = served

package networkcases

import "github.com/lastmile-isp/lastmile/aggregates/network"

// Overtakes lets tests ask whether a change can be merged.
func (in ServiceChange) Overtakes(from, now network.Service) bool { return in.overtakes(from, now) }

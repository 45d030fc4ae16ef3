package routerplan

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// AccelWaysPath is the file of AccelWays: the configuration of accel-ppp names it.
const AccelWaysPath = "/etc/accel-ppp/lastmile-routes"

// wayMarks are on each route of AccelWays, and on no other one: a protocol number and a metric. With the metric, a
// network that the machine itself is in comes first.
const wayMarks = "proto 120 metric 20"

// checkWays reports subnets of a client that have no way, or that could not be written into a script. Ways gives none.
func (c TunnelClient) checkWays(f *failure.Faults) {
	if len(c.Networks) == 0 {
		return
	}
	_, err := netip.ParseAddr(c.Address)
	f.Check(err == nil, "address", "of %s must be an address", c.User)
	for _, network := range c.Networks {
		p, err := netip.ParsePrefix(network)
		f.Check(err == nil && p == p.Masked() && covers(commands.ManagementPlan.String(), network), "network",
			"%q of %s must be a subnet of %s", network, c.User, commands.ManagementPlan)
	}
}

// AccelWays writes the script that leads management networks back through the tunnels of accel-ppp, each through that
// of its router. accel-ppp runs it for a tunnel that has come up, with the interface and both addresses; without
// arguments it brings all routes in line: first it removes those that are wrong, so that a subnet that is another
// router's now never leads to its former one. A subnet without a tunnel is unreachable, and not looked for elsewhere.
func AccelWays(c TunnelConfig) (string, error) {
	if err := c.Validate(); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, client := range c.sorted() {
		for _, network := range client.Networks {
			fmt.Fprintf(&b, "%s %s\n", network, client.Address)
		}
	}
	return fmt.Sprintf(`#!/bin/sh
# Ways to the management networks of Lastmile. Written by "lastmile tunnel config"; changes are lost.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
ways() {
	cat <<'END'
%[1]sEND
}
if [ $# -ge 5 ]; then
	ways | while read -r net router; do
		if [ "$router" = "$5" ]; then
			ip -4 route replace "$net" via "$router" dev "$1" %[2]s
		fi
	done
	exit 0
fi
ip -4 route replace unreachable %[3]s %[2]s
{
	ip -4 -o addr show | sed -n 's|^[0-9]*: *\(%[4]s[0-9]*\) .* peer \([0-9.]*\)[/ ].*|link \1 \2|p'
	ways | sed 's/^/way /'
	ip -4 route show proto 120 | sed -n 's|^\([0-9./]*\) via \([0-9.]* dev [^ ]*\).*|route \1 \2|p'
} | awk '
	$1 == "link" { up[$3] = $2 }
	$1 == "way" && $3 in up { want[$2] = $3 " dev " up[$3] }
	$1 == "route" { have[$2] = $3 " " $4 " " $5 }
	END {
		for (net in have) if (!(net in want) || have[net] != want[net]) print "route del " net " %[2]s"
		for (net in want) if (!(net in have) || have[net] != want[net])
			print "route add " net " via " want[net] " %[2]s"
	}' | ip -4 -force -batch -
`, b.String(), wayMarks, commands.ManagementPlan, tunnelLink), nil
}

// routes lists a client's subnets as a router that serves as concentrator takes them with its user: where a user is
// connected, they lead through that connection.
func (c TunnelClient) routes() string {
	list := make([]string, 0, len(c.Networks))
	for _, network := range c.Networks {
		list = append(list, network+" "+c.Address+" 1")
	}
	return strings.Join(list, ",")
}

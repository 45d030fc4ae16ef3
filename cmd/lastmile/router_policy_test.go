package main

import (
	"net/netip"
	"testing"
)

// In production a router's address is one of the tunnel, whatever is stored: anything else could be our own network.
func TestRouterPolicy_InProductionIsTheTunnelAlone(t *testing.T) {
	t.Parallel()
	policy := routerPolicy(Config{AppEnv: "production"})
	for ip, ok := range map[string]bool{
		"10.99.0.2": true, "10.99.255.254": true, "::ffff:10.99.7.7": true,
		"10.98.255.255": false, "10.100.0.1": false, "127.0.0.1": false, "::1": false, "169.254.169.254": false,
		"192.168.1.1": false, "203.0.113.9": false, "0.0.0.0": false, "fe80::1%eth0": false,
	} {
		if err := policy(netip.MustParseAddr(ip)); (err == nil) != ok {
			t.Errorf("%s: %v", ip, err)
		}
	}
	if err := routerPolicy(Config{AppEnv: "development"})(netip.MustParseAddr("127.0.0.1")); err != nil {
		t.Errorf("a simulated router in development: %v", err)
	}
}

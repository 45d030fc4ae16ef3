package main

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// TestAccounting_WhatWasAcknowledgedSurvivesAKill kills the program with SIGKILL right after it has acknowledged
// reports, with PostgreSQL and while PostgreSQL is stopped. Every session is there afterwards, and its use is counted
// once.
func TestAccounting_WhatWasAcknowledgedSurvivesAKill(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	ports := childPorts{access: freePort(t), acct: freePort(t)}
	k := newKit(t, "DATABASE_URL="+cluster.URL(), "RADIUS_AUTH_ADDR="+ports.access, "RADIUS_ACCT_ADDR="+ports.acct)
	k.radius = ports
	program := k.spawn(freePort(t))
	k.signIn()
	ours := k.connect(k.admin, "secret-of-acme", "amina")
	class := k.signedIn(k.admin, ours)
	sessions := 0
	tell := func(n int) {
		t.Helper()
		for range n {
			k.report(ours, class, told{
				session: fmt.Sprintf("81%06x", sessions), mac: "AA-BB-CC-00-11-22",
				status: rfc2866.AcctStatusType_Value_Stop, online: time.Minute, down: 1000, up: 10,
			})
			sessions++
		}
		program.kill9()
	}
	check := func() {
		t.Helper()
		program = k.spawn(freePort(t))
		k.admin, _ = k.login("acme", testAdminEmail, testPassword)
		k.eventually("sessions", func(context.Context) (bool, error) {
			found := len(k.all(k.admin, "/sessions?subscriberId="+ours.subscriber))
			return found == sessions, fmt.Errorf("%d of %d sessions", found, sessions)
		})
		var used float64
		usage := k.must(k.admin, "GET", "/subscribers/"+ours.subscriber+"/usage?step=month", nil)
		for _, month := range usage.list("data") {
			bytes, _ := month["bytesIn"].(float64)
			used += bytes
		}
		if used != float64(1000*sessions) {
			t.Errorf("used %v by %d sessions", used, sessions)
		}
	}
	tell(5)
	check()
	stopCluster(t, cluster)
	tell(5)
	if err := cluster.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	check()
	k.report(ours, class, told{ // a repeat of what was acknowledged
		session: "81000001", mac: "AA-BB-CC-00-11-22", status: rfc2866.AcctStatusType_Value_Stop,
		online: time.Minute, down: 1000, up: 10,
	})
	program.kill9()
	check()
}

// startCluster starts a server of PostgreSQL that the test can stop.
func startCluster(t *testing.T) *postgres.Cluster {
	t.Helper()
	cluster, err := postgres.StartCluster(t.Context(), postgres.ClusterConfig{
		DataDir: t.TempDir() + "/pg", Scratch: true, MaxConnections: 100,
	})
	if err != nil {
		t.Fatal(err)
	}
	atEnd(t, func() { _ = cluster.Stop(context.WithoutCancel(t.Context())) })
	return cluster
}

// stopCluster stops a server of PostgreSQL in good order and waits for its end.
func stopCluster(t *testing.T, c *postgres.Cluster) {
	t.Helper()
	p, err := os.FindProcess(c.PID())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
}

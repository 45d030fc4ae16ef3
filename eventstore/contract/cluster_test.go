package contract_test

import (
	"os"
	"testing"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
)

// TestCluster_KeepsTheContract runs the suite against the server of EVENTSTORE_URL. Without the variable it is skipped:
// the tests of the embedded node run the same suite.
func TestCluster_KeepsTheContract(t *testing.T) {
	t.Parallel()
	url := os.Getenv("EVENTSTORE_URL")
	if url == "" {
		t.Skip("EVENTSTORE_URL names no cluster to test")
	}
	contract.Run(t, url)
}

package rules

import "github.com/lockscope/lockscope/dashboards/deploy"

// nodeBuckets are the finite bounds of distributed_lock_node_duration_seconds.
func nodeBuckets() []float64 {
	return []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1}
}

// floor returns the largest bound not above v, or else the smallest bound.
func floor(bounds []float64, v float64) float64 {
	below := bounds[0]
	for _, b := range bounds {
		if b <= v {
			below = b
		}
	}
	return below
}

// bucket returns a matcher for the bucket with this bound.
func bucket(le float64) string { return deploy.Bound(le) }

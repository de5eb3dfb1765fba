package approvals

import "time"

// SettleWithin has links and folders count as settled after so long.
func (r *ByRules) SettleWithin(d time.Duration) { r.settled = d }

package live

// Sample takes one sample of the history of waits now.
var Sample = (*Board).sample

// DefaultSlowest is how many of the slowest acquisitions a State has.
const DefaultSlowest = defaultSlowest

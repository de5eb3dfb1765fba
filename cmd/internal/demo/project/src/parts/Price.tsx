import React from 'react';

export interface PriceProps {
  cents: number;
  currency: string;
}

export function Price({ cents, currency }: PriceProps) {
  return <span>{(cents / 100).toFixed(2)} {currency}</span>;
}

import React from 'react';
import { Button } from './parts/Button';
import { Price } from './parts/Price';

export interface CartProps {
  total: number;
  onPay: () => void;
}

export function Cart({ total, onPay }: CartProps) {
  return <aside><Price cents={total} currency="EUR" /><Button label="Pay" onPress={onPay} disabled={total === 0} /></aside>;
}
